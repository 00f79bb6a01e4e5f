import {
  type GraphQLField,
  type GraphQLSchema,
  getNullableType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Mapping } from '../connect/mapping.ts';
import { type Mistakes, placeOf } from '../connect/mistakes.ts';
import { fieldAt } from '../contract-fields.ts';
import type { RemoteEntry } from './join.ts';
import { checkNeeded, type Joining, joinField } from './join-field.ts';
import type { Naming, Wrong } from './leaf.ts';

/** The recorded schemas of the GraphQL upstreams, by source. */
export type RecordedSchemas = ReadonlyMap<string, GraphQLSchema>;

/**
 * Checks the fields mapped with @graphql against the recorded schemas of the upstreams: every field, argument, input and
 * enum used must exist and have a compatible type. Returns the
 * mapped fields by coordinate, ready to use; mistakes are added to the list.
 */
export function joinRemoteFields(
  contract: GraphQLSchema,
  mapping: Mapping,
  recorded: RecordedSchemas,
  mistakes: Mistakes,
): ReadonlyMap<string, RemoteEntry> {
  const found = new Map<string, RemoteEntry>();
  for (const field of mapping.remote.fields.values()) {
    const upstream = recorded.get(field.source);
    if (upstream === undefined) continue;
    const reported = new Set<string>();
    const wrong: Joining['wrong'] = (node, coordinate, message) => {
      const key = `${coordinate} ${message}`;
      if (!reported.has(key)) mistakes.add(placeOf(node), coordinate, message);
      reported.add(key);
    };
    const { source } = field;
    const of: Naming['of'] = (coordinate) => mapping.remote.names.get(`${source} ${coordinate}`) ?? [];
    const naming = { source, of };
    const entry = joinEntry({ contract, mapping, upstream, from: field, naming, objects: new Map(), wrong });
    if (entry !== undefined) found.set(field.coordinate, entry);
  }
  return found;
}

function joinEntry(joining: Joining): RemoteEntry | undefined {
  const { coordinate, node, root: rootName, member: memberName, name: ownName } = joining.from;
  const { type, field } = fieldAt(joining.contract, coordinate);
  const wrong: Wrong = (message) => joining.wrong(node, coordinate, message);
  if (isNonNullType(field.type)) wrong('comes from a separate upstream call, so it must be nullable');
  const writes = type === joining.contract.getMutationType();
  const operations = writes ? joining.upstream.getMutationType() : joining.upstream.getQueryType();
  if (writes && rootName !== undefined) wrong('root: a mutation is itself a root field');
  const root = rootName === undefined ? undefined : operations?.getFields()[rootName];
  if (rootName !== undefined && root === undefined) {
    wrong(`the upstream's ${operations?.name ?? 'schema'} has no field ${rootName}`);
    return undefined;
  }
  const rootType = root && getNullableType(root.type);
  const isList = isListType(rootType);
  const rootItem = isListType(rootType) ? rootType.ofType : root?.type;
  const parent = rootItem === undefined ? operations : getNullableType(rootItem);
  if (!isObjectType(parent)) {
    wrong(root === undefined ? 'the upstream has no operations of this kind' : `${rootName} does not return an object`);
    return undefined;
  }
  const name = ownName ?? field.name;
  const upstream = parent.getFields()[name];
  if (upstream === undefined) {
    wrong(`the upstream's ${parent.name} has no field ${name}`);
    return undefined;
  }
  const member = memberName === undefined ? undefined : memberArgument(root ?? upstream, memberName, wrong);
  if (isList && member?.isList !== true) wrong(`${rootName} returns a list, so its member argument must be a list`);
  if (root !== undefined) checkNeeded(root, new Set([memberName]), wrong);
  const ownMember = root === undefined ? memberName : undefined;
  const join = joinField(joining, type, field, upstream, joining.from.arguments, node, ownMember);
  const nullable = !isNonNullType(upstream.type);
  const held = root !== undefined && (!isNonNullType(root.type) || (isList && !isNonNullType(rootItem)));
  return {
    mapping: joining.from,
    join,
    writes,
    member,
    root: root && { name: root.name, isList, nonNull: isNonNullType(root.type) },
    requestedIn: nullable ? 'shared root' : held ? 'own root' : 'own call',
  };
}

function memberArgument(field: GraphQLField<unknown, unknown>, name: string, wrong: Wrong): RemoteEntry['member'] {
  const argument = field.args.find((each) => each.name === name);
  if (argument === undefined) {
    wrong(`member: the upstream's ${field.name} has no argument ${name}`);
    return undefined;
  }
  const bare = getNullableType(argument.type);
  const item = isListType(bare) ? getNullableType(bare.ofType) : bare;
  if (String(item) !== 'ID' && String(item) !== 'String')
    wrong(`member: ${name} is ${argument.type}, which cannot take an ID`);
  return { name, type: String(argument.type), isList: isListType(bare) };
}
