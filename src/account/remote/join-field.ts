import {
  type ConstDirectiveNode,
  type GraphQLField,
  type GraphQLNamedOutputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import type { UpstreamArgument } from '../connect/directives.ts';
import { givenByBatch, type Mapping, type RemoteField } from '../connect/mapping.ts';
import { viewerTypeOf } from '../contract-fields.ts';
import { isUnsupportedScalar, SCALAR_NAMES } from '../scalars.ts';
import type { ArgumentJoin, FieldJoin, ObjectJoin, TypeJoin } from './join.ts';
import { inputWriter, leafReader, type Naming, type Wrong } from './leaf.ts';

/** What joining one mapped field needs. */
export interface Joining {
  readonly contract: GraphQLSchema;
  readonly mapping: Mapping;
  readonly upstream: GraphQLSchema;
  readonly from: RemoteField;
  readonly naming: Naming;
  /** Keyed by the names of both types, and set before their fields are joined, so that types can be recursive. */
  readonly objects: Map<string, ObjectJoin>;
  /** Reports each mistake once, since the same type is reached on many paths. */
  readonly wrong: (node: ConstDirectiveNode, coordinate: string, message: string) => void;
}

/** Reports arguments that the upstream requires but nothing sets. */
export function checkNeeded(
  field: GraphQLField<unknown, unknown>,
  filled: ReadonlySet<string | undefined>,
  wrong: Wrong,
): void {
  for (const argument of field.args) {
    if (isRequiredArgument(argument) && !filled.has(argument.name))
      wrong(`the upstream's ${field.name} needs ${argument.name}`);
  }
}

export function joinField(
  joining: Joining,
  type: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
  upstream: GraphQLField<unknown, unknown>,
  renamed: readonly UpstreamArgument[],
  node: ConstDirectiveNode,
  member?: string,
): FieldJoin {
  const coordinate = `${type.name}.${field.name}`;
  const wrong: Wrong = (message) => joining.wrong(node, coordinate, message);
  for (const { name } of renamed) {
    if (!field.args.some((argument) => argument.name === name)) wrong(`the contract has no argument ${name}`);
  }
  const joined = field.args.flatMap((argument): ArgumentJoin[] => {
    const name = renamed.find((each) => each.name === argument.name)?.as ?? argument.name;
    const match = upstream.args.find((each) => each.name === name);
    if (match === undefined || name === member) {
      const message = match === undefined ? `has no argument ${name}` : `takes the member as ${name}`;
      wrong(`argument ${argument.name}: the upstream's ${upstream.name} ${message}`);
      return [];
    }
    const wrongHere: Wrong = (message) => wrong(`argument ${argument.name} ${message}`);
    const write = inputWriter(joining.naming, argument.type, match.type, wrongHere);
    return [{ argument: argument.name, name, type: String(match.type), write }];
  });
  checkNeeded(upstream, new Set([...joined.map(({ name }) => name), member]), wrong);
  const isEntry = coordinate === joining.from.coordinate;
  checkWrapping(isEntry ? getNullableType(field.type) : field.type, upstream.type, wrong);
  const [own, other] = [getNamedType(field.type), getNamedType(upstream.type)];
  const leaf = isLeafType(own);
  if (isUnsupportedScalar(own)) wrong(`unsupported scalar ${own.name}; supported are ${[...SCALAR_NAMES].join()}`);
  return {
    field,
    coordinate,
    name: upstream.name,
    arguments: joined,
    read: leaf ? leafReader(joining.naming, own, other, wrong, joining.mapping.timeZone) : (value) => value,
    inner: leaf ? undefined : joinType(joining, own, other, node, wrong),
  };
}

/** Checks lists and nullability: what is non-null in the contract must be non-null upstream. */
function checkWrapping(type: GraphQLOutputType, upstream: GraphQLOutputType, wrong: Wrong): void {
  if (isNonNullType(type) && !isNonNullType(upstream)) wrong(`is ${type} in the contract, but ${upstream} upstream`);
  const [own, other] = [getNullableType(type), getNullableType(upstream)];
  if (isListType(own) && isListType(other)) checkWrapping(own.ofType, other.ofType, wrong);
  else if (isListType(own) || isListType(other)) wrong(`is ${type} in the contract, but ${upstream} upstream`);
}

function joinType(
  joining: Joining,
  type: GraphQLNamedOutputType,
  upstream: GraphQLNamedOutputType,
  node: ConstDirectiveNode,
  wrong: Wrong,
): TypeJoin | undefined {
  if (isObjectType(type) && isObjectType(upstream))
    return { abstract: false, objects: new Map([[upstream.name, joinObject(joining, type, upstream, node)]]) };
  if (!isAbstractType(type) || !isAbstractType(upstream)) {
    wrong(`is ${type.name} in the contract, which the upstream's ${upstream.name} cannot be`);
    return undefined;
  }
  const objects = new Map<string, ObjectJoin>();
  for (const possible of joining.contract.getPossibleTypes(type)) {
    const [named] = joining.naming.of(possible.name);
    const name = named?.name ?? possible.name;
    const other = joining.upstream.getType(name);
    if (!isObjectType(other) || !joining.upstream.isSubType(upstream, other))
      joining.wrong(named?.node ?? node, possible.name, `the upstream's ${upstream.name} is never ${name}`);
    else objects.set(name, joinObject(joining, possible, other, node));
  }
  return { abstract: true, objects };
}

function joinObject(
  joining: Joining,
  type: GraphQLObjectType,
  upstream: GraphQLObjectType,
  node: ConstDirectiveNode,
): ObjectJoin {
  const key = `${type.name} ${upstream.name}`;
  const known = joining.objects.get(key);
  if (known !== undefined) return known;
  const fields = new Map<string, FieldJoin>();
  const needs = new Map<string, readonly FieldJoin[]>();
  const join: ObjectJoin = { type, fields, needs };
  joining.objects.set(key, join);
  if (type.name === viewerTypeOf(joining.contract)) {
    joining.wrong(node, type.name, 'the viewer comes from the access token, not from an upstream');
    return join;
  }
  const elsewhere = new Map<string, readonly string[]>();
  for (const field of Object.values(type.getFields())) {
    const coordinate = `${type.name}.${field.name}`;
    const siblings = joining.mapping.fields.get(coordinate)?.usedSiblings;
    const batch = givenByBatch(joining.mapping.types.get(type.name), field.name);
    if (siblings !== undefined) elsewhere.set(field.name, [...siblings]);
    else if (batch !== undefined) elsewhere.set(field.name, [batch]);
    else {
      const [named] = joining.naming.of(coordinate);
      const name = named?.name ?? field.name;
      const match = upstream.getFields()[name];
      if (match === undefined)
        joining.wrong(named?.node ?? node, coordinate, `the upstream's ${upstream.name} has no field ${name}`);
      else fields.set(field.name, joinField(joining, type, field, match, named?.arguments ?? [], named?.node ?? node));
    }
  }
  for (const [name, siblings] of elsewhere) {
    const joins = siblings.flatMap((sibling) => {
      const join = fields.get(sibling);
      if (join !== undefined && join.inner === undefined && join.arguments.length === 0) return [join];
      joining.wrong(node, `${type.name}.${name}`, `needs ${sibling}, which is not a plain value here`);
      return [];
    });
    needs.set(name, joins);
  }
  return join;
}
