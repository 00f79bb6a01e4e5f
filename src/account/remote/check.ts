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
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';
import type { UpstreamArgument } from '../connect/directives.ts';
import type { Mapping } from '../connect/mapping.ts';
import { type Mistakes, placeOf } from '../connect/mistakes.ts';
import { ownFields } from '../connect/own-fields.ts';
import { givenByBatch } from '../connect/selection-names.ts';
import type { ArgumentJoin, Boundary, FieldJoin, ObjectJoin, TypeJoin } from './join.ts';
import { inputWriter, leafReader, type Wrong } from './leaf.ts';
import { type RemoteField, upstreamNames } from './mapping.ts';

/** The recorded schemas of the GraphQL upstreams, by source. */
export type RecordedSchemas = ReadonlyMap<string, GraphQLSchema>;

/**
 * Checks the fields mapped with @graphql against the recorded schemas of the upstreams: every field, argument, input and
 * enum used must exist and have a compatible type. `scalars` are the custom scalars that are supported. Returns the
 * mapped fields by coordinate, ready to use; mistakes are added to the list.
 */
export function joinRemoteFields(
  contract: GraphQLSchema,
  mapping: Mapping,
  recorded: RecordedSchemas,
  scalars: ReadonlySet<string>,
  mistakes: Mistakes,
): ReadonlyMap<string, Boundary> {
  const found = new Map<string, Boundary>();
  for (const field of mapping.remote.fields.values()) {
    const schema = recorded.get(field.source);
    if (schema === undefined) continue;
    const boundary = new Joiner(contract, mapping, schema, scalars, field, mistakes).boundary();
    if (boundary !== undefined) found.set(field.coordinate, boundary);
  }
  return found;
}

class Joiner {
  readonly #contract: GraphQLSchema;
  readonly #mapping: Mapping;
  readonly #upstream: GraphQLSchema;
  readonly #scalars: ReadonlySet<string>;
  readonly #from: RemoteField;
  readonly #mistakes: Mistakes;
  /** Keyed by the names of both types, and set before their fields are joined, so that types can be recursive. */
  readonly #objects = new Map<string, ObjectJoin>();
  readonly #said = new Set<string>();

  constructor(
    contract: GraphQLSchema,
    mapping: Mapping,
    upstream: GraphQLSchema,
    scalars: ReadonlySet<string>,
    from: RemoteField,
    mistakes: Mistakes,
  ) {
    this.#contract = contract;
    this.#mapping = mapping;
    this.#upstream = upstream;
    this.#scalars = scalars;
    this.#from = from;
    this.#mistakes = mistakes;
  }

  boundary(): Boundary | undefined {
    const { coordinate, node, root: rootName, member: memberName, name: ownName } = this.#from;
    const [typeName = '', fieldName = ''] = coordinate.split('.');
    const type = this.#contract.getType(typeName) as GraphQLObjectType;
    const field = type.getFields()[fieldName];
    const wrong: Wrong = (message) => this.#wrong(node, coordinate, message);
    if (field === undefined) return undefined;
    if (isNonNullType(field.type)) wrong('comes from a separate upstream call, so it must be nullable');
    const writes = type === this.#contract.getMutationType();
    const operations = writes ? this.#upstream.getMutationType() : this.#upstream.getQueryType();
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
      wrong(
        root === undefined ? 'the upstream has no operations of this kind' : `${rootName} does not return an object`,
      );
      return undefined;
    }
    const name = ownName ?? fieldName;
    const upstream = parent.getFields()[name];
    if (upstream === undefined) {
      wrong(`the upstream's ${parent.name} has no field ${name}`);
      return undefined;
    }
    const member = memberName === undefined ? undefined : this.#member(root ?? upstream, memberName, wrong);
    if (isList && member?.isList !== true) wrong(`${rootName} returns a list, so its member argument must be a list`);
    if (root !== undefined) this.#needed(root, new Set([memberName]), wrong);
    const join = this.#field(
      type,
      field,
      upstream,
      this.#from.arguments,
      node,
      root === undefined ? memberName : undefined,
    );
    const nullable = !isNonNullType(upstream.type);
    const held = root !== undefined && (!isNonNullType(root.type) || (isList && !isNonNullType(rootItem)));
    return {
      mapping: this.#from,
      join,
      writes,
      member,
      root: root && { name: root.name, isList, nonNull: isNonNullType(root.type) },
      apart: nullable ? 'no' : held ? 'root' : 'call',
    };
  }

  #member(field: GraphQLField<unknown, unknown>, name: string, wrong: Wrong): Boundary['member'] {
    const argument = field.args.find((each) => each.name === name);
    if (argument === undefined) {
      wrong(`member: the upstream's ${field.name} has no argument ${name}`);
      return undefined;
    }
    const bare = getNullableType(argument.type);
    const item = isListType(bare) ? getNullableType(bare.ofType) : bare;
    if (String(item) !== 'ID' && String(item) !== 'String') {
      wrong(`member: ${name} is ${argument.type}, which cannot take an ID`);
    }
    return { name, type: String(argument.type), isList: isListType(bare) };
  }

  /** Reports arguments that the upstream requires but nothing sets. */
  #needed(field: GraphQLField<unknown, unknown>, filled: ReadonlySet<string | undefined>, wrong: Wrong): void {
    for (const argument of field.args) {
      const needed = isNonNullType(argument.type) && argument.default === undefined;
      if (needed && !filled.has(argument.name)) wrong(`the upstream's ${field.name} needs ${argument.name}`);
    }
  }

  #field(
    type: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
    upstream: GraphQLField<unknown, unknown>,
    renamed: readonly UpstreamArgument[],
    node: ConstDirectiveNode,
    member?: string,
  ): FieldJoin {
    const coordinate = `${type.name}.${field.name}`;
    const wrong: Wrong = (message) => this.#wrong(node, coordinate, message);
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
      const tell: Wrong = (message) => wrong(`argument ${argument.name} ${message}`);
      const write = inputWriter(this.#mapping.remote, this.#from.source, argument.type, match.type, tell);
      return [{ argument: argument.name, name, type: String(match.type), write }];
    });
    this.#needed(upstream, new Set([...joined.map(({ name }) => name), member]), wrong);
    const boundary = coordinate === this.#from.coordinate;
    this.#wrapping(boundary ? getNullableType(field.type) : field.type, upstream.type, wrong);
    const [own, other] = [getNamedType(field.type), getNamedType(upstream.type)];
    const leaf = isLeafType(own);
    if (isScalarType(own) && !isSpecifiedScalarType(own) && !this.#scalars.has(own.name)) {
      wrong(`unsupported scalar ${own.name}; supported are ${[...this.#scalars].join()}`);
    }
    return {
      field,
      coordinate,
      name: upstream.name,
      arguments: joined,
      read: leaf ? leafReader(this.#mapping.remote, this.#from.source, own, other, wrong) : (value) => value,
      inner: leaf ? undefined : this.#type(own, other, node, wrong),
    };
  }

  /** Checks lists and nullability: what is non-null in the contract must be non-null upstream. */
  #wrapping(type: GraphQLOutputType, upstream: GraphQLOutputType, wrong: Wrong): void {
    if (isNonNullType(type) && !isNonNullType(upstream)) wrong(`is ${type} in the contract, but ${upstream} upstream`);
    const [own, other] = [getNullableType(type), getNullableType(upstream)];
    if (isListType(own) && isListType(other)) this.#wrapping(own.ofType, other.ofType, wrong);
    else if (isListType(own) || isListType(other)) wrong(`is ${type} in the contract, but ${upstream} upstream`);
  }

  #type(
    type: GraphQLNamedOutputType,
    upstream: GraphQLNamedOutputType,
    node: ConstDirectiveNode,
    wrong: Wrong,
  ): TypeJoin | undefined {
    if (isObjectType(type) && isObjectType(upstream)) {
      return { abstract: false, object: this.#object(type, upstream, node) };
    }
    if (!isAbstractType(type) || !isAbstractType(upstream)) {
      wrong(`is ${type.name} in the contract, which the upstream's ${upstream.name} cannot be`);
      return undefined;
    }
    const objects = new Map<string, ObjectJoin>();
    for (const possible of this.#contract.getPossibleTypes(type)) {
      const [named] = upstreamNames(this.#mapping.remote, this.#from.source, possible.name);
      const name = named?.name ?? possible.name;
      const other = this.#upstream.getType(name);
      if (!isObjectType(other) || !this.#upstream.isSubType(upstream, other)) {
        const message = `the upstream's ${upstream.name} is never ${name}`;
        this.#wrong(named?.node ?? node, possible.name, message);
      } else objects.set(name, this.#object(possible, other, node));
    }
    return { abstract: true, objects };
  }

  #object(type: GraphQLObjectType, upstream: GraphQLObjectType, node: ConstDirectiveNode): ObjectJoin {
    const key = `${type.name} ${upstream.name}`;
    const known = this.#objects.get(key);
    if (known !== undefined) return known;
    const fields = new Map<string, FieldJoin>();
    const needs = new Map<string, readonly FieldJoin[]>();
    const join: ObjectJoin = { type, fields, needs };
    this.#objects.set(key, join);
    if (type.name === ownFields(this.#contract).id.split('.')[0]) {
      this.#wrong(node, type.name, 'the viewer comes from the access token, not from an upstream');
      return join;
    }
    const elsewhere = new Map<string, readonly string[]>();
    for (const field of Object.values(type.getFields())) {
      const coordinate = `${type.name}.${field.name}`;
      const siblings = this.#mapping.fields.get(coordinate)?.usedSiblings;
      const batch = givenByBatch(this.#mapping.types.get(type.name), field.name);
      if (siblings !== undefined) elsewhere.set(field.name, [...siblings]);
      else if (batch !== undefined) elsewhere.set(field.name, [batch]);
      else {
        const [named] = upstreamNames(this.#mapping.remote, this.#from.source, coordinate);
        const name = named?.name ?? field.name;
        const match = upstream.getFields()[name];
        if (match === undefined) {
          this.#wrong(named?.node ?? node, coordinate, `the upstream's ${upstream.name} has no field ${name}`);
        } else fields.set(field.name, this.#field(type, field, match, named?.arguments ?? [], named?.node ?? node));
      }
    }
    for (const [name, siblings] of elsewhere) {
      const joins = siblings.flatMap((sibling) => {
        const join = fields.get(sibling);
        if (join !== undefined && join.inner === undefined && join.arguments.length === 0) return [join];
        this.#wrong(node, `${type.name}.${name}`, `needs ${sibling}, which is not a plain value here`);
        return [];
      });
      needs.set(name, joins);
    }
    return join;
  }

  /** Reports each mistake once, since the same type is reached on many paths. */
  #wrong(node: ConstDirectiveNode, coordinate: string, message: string): void {
    const key = `${coordinate} ${message}`;
    if (this.#said.has(key)) return;
    this.#said.add(key);
    this.#mistakes.add(placeOf(node), coordinate, message);
  }
}
