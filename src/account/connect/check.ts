import {
  type ASTNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { fieldAt, tokenFields } from '../contract-fields.ts';
import { isUnsupportedScalar, SCALAR_NAMES } from '../scalars.ts';
import type { Connector } from './connector.ts';
import { type FieldMapping, givenByBatch, type Mapping } from './mapping.ts';
import { type Mistakes, placeOf } from './mistakes.ts';
import { isInternalName, membersOf, type Selection, type SelectionMember } from './syntax.ts';

/** The fields of a connection, which the gateway fills. */
const CONNECTION_FIELDS = ['nodes', 'edges', 'pageInfo', 'totalCount'];

/** What every check needs. */
interface Checking {
  readonly contract: GraphQLSchema;
  readonly mapping: Mapping;
  readonly mistakes: Mistakes;
  readonly wrong: (node: ASTNode | null | undefined, coordinate: string, message: string) => void;
  /** The same at an offset in the connector's selection. */
  readonly wrongAt: (connector: Connector, at: number, coordinate: string, message: string) => void;
}

/**
 * Checks a mapping against the contract: every field has exactly one source, every selection returns what the contract
 * declares, and everything that depends on an upstream is nullable, so that a failure affects nothing else. Mistakes are added to the list.
 */
export function checkMapping(contract: GraphQLSchema, mapping: Mapping, mistakes: Mistakes): void {
  const checking: Checking = {
    contract,
    mapping,
    mistakes,
    wrong: (node, coordinate, message) => mistakes.add(placeOf(node), coordinate, message),
    wrongAt: (connector, at, coordinate, message) => mistakes.add(connector.placeOf(at), coordinate, message),
  };
  const query = contract.getQueryType();
  const viewer = query?.getFields().viewer;
  const viewerType = viewer && getNamedType(viewer.type);
  if (!query || !isObjectType(viewerType) || String(viewerType.getFields().id?.type) !== 'ID!') {
    const message = 'the contract must have Query.viewer of an object type with id: ID!';
    checking.wrong(query?.astNode, 'Query.viewer', message);
    return;
  }
  const [mutation, subscription] = [contract.getMutationType(), contract.getSubscriptionType()];
  if (subscription) checking.wrong(subscription.astNode, subscription.name, 'subscriptions cannot be mapped');
  for (const type of [query, viewerType, ...(mutation ? [mutation] : [])]) {
    for (const field of Object.values(type.getFields())) {
      const own = (type === query && field === viewer) || (type === viewerType && field.name === 'id');
      if (!own) checkProvided(checking, type, field, undefined);
    }
  }
  for (const mapped of mapping.fields.values()) checkField(checking, mapped);
  for (const { type, connector, key, single, required } of mapping.types.values()) {
    const members = listedMembers(checking, connector.selection, connector, type);
    if (members === undefined) continue;
    if (!single && !members.some(({ name }) => name === key)) {
      checking.wrongAt(connector, connector.selection.at, type, `the selection does not return the key ${key}`);
    }
    const object = contract.getType(type);
    if (!isObjectType(object)) continue;
    const provided = members.filter(({ name }) => name !== key);
    for (const member of provided) {
      const field = object.getFields()[member.name];
      if (field && isNonNullType(field.type) && !required) {
        const message = 'comes from a separate upstream call, so it must be nullable, or its batch required: true';
        checking.wrong(field.astNode, `${type}.${member.name}`, message);
      }
      checkMember(checking, object, member, connector);
    }
  }
}

function checkField(
  checking: Checking,
  { coordinate, connector, pages, node, usedArguments, usedSiblings }: FieldMapping,
): void {
  const { type, field } = fieldAt(checking.contract, coordinate);
  if (isNonNullType(field.type)) {
    checking.wrong(field.astNode, coordinate, 'comes from a separate upstream call, so it must be nullable');
  }
  for (const argument of field.args) {
    if (!usedArguments.has(argument.name)) {
      checking.wrong(argument.astNode, coordinate, `nothing uses the argument ${argument.name}`);
    }
  }
  for (const name of usedSiblings) {
    const giver = otherProvider(checking, type.name, name);
    if (giver === undefined) continue;
    checking.wrong(node, coordinate, `$this.${name} comes from ${giver}, which may not have responded yet`);
  }
  const target = getNamedType(field.type);
  if (pages === undefined) {
    checkValue(checking, target, connector.selection, connector, coordinate);
    return;
  }
  const nodeType = isObjectType(target) ? target.getFields().nodes : undefined;
  const given = isObjectType(target) ? Object.keys(target.getFields()) : [];
  const argumentsFit = ['first: Int', 'after: String'].every((wanted) => {
    return field.args.some((argument) => `${argument.name}: ${argument.type}` === wanted);
  });
  if (nodeType === undefined || given.some((name) => !CONNECTION_FIELDS.includes(name)) || !argumentsFit) {
    const wanted = `${CONNECTION_FIELDS.join(', ')} and arguments first: Int, after: String`;
    checking.wrong(node, coordinate, `@connection: the contract's field needs a type of ${wanted}`);
    return;
  }
  checkValue(checking, getNamedType(nodeType.type), connector.selection, connector, coordinate);
}

/** Checks that a selection can return a value of a type. */
function checkValue(
  checking: Checking,
  target: unknown,
  selection: Selection,
  connector: Connector,
  coordinate: string,
): void {
  if (isObjectType(target)) {
    const members = listedMembers(checking, selection, connector, coordinate);
    if (members !== undefined) checkObject(checking, target, members, connector, selection.at);
  } else if (isScalarType(target) || isEnumType(target)) {
    if (isUnsupportedScalar(target)) {
      checking.wrong(target.astNode, target.name, `unsupported scalar; supported are ${[...SCALAR_NAMES].join()}`);
    }
    if (selection.kind === 'members' || selection.chains.some(({ members }) => members !== undefined)) {
      checking.wrongAt(connector, selection.at, coordinate, `returns an object, but the contract has ${target.name}`);
    }
  } else {
    checking.wrongAt(connector, selection.at, coordinate, 'only objects, scalars and enums can be mapped');
  }
}

function checkObject(
  checking: Checking,
  type: GraphQLObjectType,
  members: readonly SelectionMember[],
  connector: Connector,
  at: number,
): void {
  for (const member of members) {
    const giver = otherProvider(checking, type.name, member.name);
    if (giver !== undefined) {
      checking.wrongAt(connector, member.at, `${type.name}.${member.name}`, `is provided both here and by ${giver}`);
    }
    checkMember(checking, type, member, connector);
  }
  const names = new Set(members.map(({ name }) => name));
  const key = checking.mapping.types.get(type.name)?.key;
  if (key !== undefined && !names.has(key)) {
    const message = `the selection does not return ${key}, which the @connect on the type needs`;
    checking.wrongAt(connector, at, type.name, message);
  }
  for (const { coordinate, usedSiblings } of checking.mapping.fields.values()) {
    if (!coordinate.startsWith(`${type.name}.`)) continue;
    for (const name of usedSiblings) {
      if (names.has(name) || !isInternalName(name) || name in type.getFields()) continue;
      const message = `the selection does not return ${name}, which the @connect on ${coordinate} needs`;
      checking.wrongAt(connector, at, type.name, message);
    }
  }
  for (const field of Object.values(type.getFields())) {
    if (!names.has(field.name)) checkProvided(checking, type, field, () => connector.placeOf(at));
  }
}

function checkMember(checking: Checking, type: GraphQLObjectType, member: SelectionMember, connector: Connector): void {
  const coordinate = `${type.name}.${member.name}`;
  const field = type.getFields()[member.name];
  if (field === undefined) {
    if (isInternalName(member.name)) return;
    const message = `the selection returns "${member.name}", which is not in the contract`;
    checking.wrongAt(connector, member.at, coordinate, message);
    return;
  }
  if (tokenFields(checking.contract).includes(coordinate)) {
    checking.wrongAt(connector, member.at, coordinate, 'comes from the access token and cannot be mapped');
  }
  if (field.args.length > 0) {
    checking.wrong(field.astNode, coordinate, 'has arguments, so it needs its own @connect to use them');
  }
  checkValue(checking, getNamedType(field.type), member.value, connector, coordinate);
}

function checkProvided(
  checking: Checking,
  type: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
  place: (() => ReturnType<typeof placeOf>) | undefined,
): void {
  const coordinate = `${type.name}.${field.name}`;
  const { unread, complete } = checking.mapping;
  if (!complete || unread.has(coordinate) || unread.has(type.name)) return;
  if (otherProvider(checking, type.name, field.name) !== undefined) return;
  if (place === undefined) checking.wrong(field.astNode, coordinate, 'nothing provides this field');
  else checking.mistakes.add(place(), coordinate, 'nothing provides this field');
}

/** What provides a field other than the selection that its object comes from. */
function otherProvider(checking: Checking, type: string, name: string): string | undefined {
  if (checking.mapping.fields.has(`${type}.${name}`)) return 'its own @connect';
  if (checking.mapping.remote.fields.has(`${type}.${name}`)) return 'its own @graphql';
  return givenByBatch(checking.mapping.types.get(type), name) === undefined ? undefined : `the @connect on ${type}`;
}

function listedMembers(
  checking: Checking,
  selection: Selection,
  connector: Connector,
  coordinate: string,
): readonly SelectionMember[] | undefined {
  const members = membersOf(selection);
  if (members === undefined) {
    checking.wrongAt(connector, selection.at, coordinate, 'is an object in the contract: list its fields in { }');
  }
  return members;
}
