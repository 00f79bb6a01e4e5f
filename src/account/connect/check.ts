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
  isSpecifiedScalarType,
} from 'graphql';
import type { Connector } from './connector.ts';
import type { FieldMapping, Mapping } from './mapping.ts';
import { type Mistakes, placeOf } from './mistakes.ts';
import { ownFields } from './own-fields.ts';
import { givenByBatch } from './selection-names.ts';
import type { Member, Selection } from './syntax.ts';

/** The fields of a connection, which the gateway fills. */
const CONNECTION_FIELDS = ['nodes', 'edges', 'pageInfo', 'totalCount'];

/**
 * Checks a mapping against the contract: every field has exactly one source, every selection returns what the contract
 * declares, and everything that depends on an upstream is nullable, so that a failure affects nothing else. `scalars`
 * are the custom scalars that are supported. Mistakes are added to the list.
 */
export function checkMapping(
  contract: GraphQLSchema,
  mapping: Mapping,
  scalars: ReadonlySet<string>,
  mistakes: Mistakes,
): void {
  new Check(contract, mapping, scalars, mistakes).run();
}

class Check {
  readonly #contract: GraphQLSchema;
  readonly #mapping: Mapping;
  readonly #scalars: ReadonlySet<string>;
  readonly #mistakes: Mistakes;

  constructor(contract: GraphQLSchema, mapping: Mapping, scalars: ReadonlySet<string>, mistakes: Mistakes) {
    this.#contract = contract;
    this.#mapping = mapping;
    this.#scalars = scalars;
    this.#mistakes = mistakes;
  }

  run(): void {
    const query = this.#contract.getQueryType();
    const viewer = query?.getFields().viewer;
    const viewerType = viewer && getNamedType(viewer.type);
    if (!query || !isObjectType(viewerType) || String(viewerType.getFields().id?.type) !== 'ID!') {
      this.#wrong(query?.astNode, 'Query.viewer', 'the contract must have Query.viewer of an object type with id: ID!');
      return;
    }
    const [mutation, subscription] = [this.#contract.getMutationType(), this.#contract.getSubscriptionType()];
    if (subscription) this.#wrong(subscription.astNode, subscription.name, 'subscriptions cannot be mapped');
    for (const type of [query, viewerType, ...(mutation ? [mutation] : [])]) {
      for (const field of Object.values(type.getFields())) {
        const own = (type === query && field === viewer) || (type === viewerType && field.name === 'id');
        if (!own) this.#provided(type, field, undefined);
      }
    }
    for (const mapped of this.#mapping.fields.values()) this.#field(mapped);
    for (const { type, connector, key } of this.#mapping.types.values()) {
      const members = this.#membersOf(connector.selection, connector, type);
      if (members === undefined) continue;
      if (!members.some(({ name }) => name === key)) {
        this.#wrongAt(connector, connector.selection.at, type, `the selection does not return the key ${key}`);
      }
      const object = this.#contract.getType(type);
      if (isObjectType(object)) this.#batched(object, members, key, connector);
    }
  }

  #batched(type: GraphQLObjectType, members: readonly Member[], key: string, connector: Connector): void {
    for (const member of members) {
      if (member.name === key) continue;
      const field = type.getFields()[member.name];
      const coordinate = `${type.name}.${member.name}`;
      if (field && isNonNullType(field.type)) {
        this.#wrong(field.astNode, coordinate, 'comes from a separate upstream call, so it must be nullable');
      }
      this.#member(type, member, connector);
    }
  }

  #field({ coordinate, connector, pages, node, usedArguments, usedSiblings }: FieldMapping): void {
    const [typeName = '', fieldName = ''] = coordinate.split('.');
    const type = this.#contract.getType(typeName);
    const field = isObjectType(type) ? type.getFields()[fieldName] : undefined;
    if (field === undefined) return;
    if (isNonNullType(field.type)) {
      this.#wrong(field.astNode, coordinate, 'comes from a separate upstream call, so it must be nullable');
    }
    for (const argument of field.args) {
      if (!usedArguments.has(argument.name)) {
        this.#wrong(argument.astNode, coordinate, `nothing uses the argument ${argument.name}`);
      }
    }
    for (const name of usedSiblings) {
      const giver = this.#givenOtherwise(typeName, name);
      if (giver === undefined) continue;
      this.#mistakes.add(
        placeOf(node),
        coordinate,
        `$this.${name} comes from ${giver}, which may not have responded yet`,
      );
    }
    const target = getNamedType(field.type);
    if (pages === undefined) {
      this.#value(target, connector.selection, connector, coordinate);
      return;
    }
    const nodeType = isObjectType(target) ? target.getFields().nodes : undefined;
    const given = isObjectType(target) ? Object.keys(target.getFields()) : [];
    const argumentsFit = ['first: Int', 'after: String'].every((wanted) => {
      return field.args.some((argument) => `${argument.name}: ${argument.type}` === wanted);
    });
    if (nodeType === undefined || given.some((name) => !CONNECTION_FIELDS.includes(name)) || !argumentsFit) {
      const wanted = `${CONNECTION_FIELDS.join(', ')} and arguments first: Int, after: String`;
      this.#mistakes.add(placeOf(node), coordinate, `@connection: the contract's field needs a type of ${wanted}`);
      return;
    }
    this.#value(getNamedType(nodeType.type), connector.selection, connector, coordinate);
  }

  /** Checks that a selection can return a value of a type. */
  #value(target: unknown, selection: Selection, connector: Connector, coordinate: string): void {
    if (isObjectType(target)) {
      const members = this.#membersOf(selection, connector, coordinate);
      if (members !== undefined) this.#object(target, members, connector, selection.at);
    } else if (isScalarType(target) || isEnumType(target)) {
      if (isScalarType(target) && !isSpecifiedScalarType(target) && !this.#scalars.has(target.name)) {
        this.#wrong(target.astNode, target.name, `unsupported scalar; supported are ${[...this.#scalars].join()}`);
      }
      if (selection.kind === 'members' || selection.chains.some(({ members }) => members !== undefined)) {
        this.#wrongAt(connector, selection.at, coordinate, `returns an object, but the contract has ${target.name}`);
      }
    } else {
      this.#wrongAt(connector, selection.at, coordinate, 'only objects, scalars and enums can be mapped');
    }
  }

  #object(type: GraphQLObjectType, members: readonly Member[], connector: Connector, at: number): void {
    for (const member of members) {
      if (this.#givenOtherwise(type.name, member.name) !== undefined) {
        const giver = this.#givenOtherwise(type.name, member.name);
        this.#wrongAt(connector, member.at, `${type.name}.${member.name}`, `is provided both here and by ${giver}`);
      }
      this.#member(type, member, connector);
    }
    const names = new Set(members.map(({ name }) => name));
    const key = this.#mapping.types.get(type.name)?.key;
    if (key !== undefined && !names.has(key)) {
      this.#wrongAt(
        connector,
        at,
        type.name,
        `the selection does not return ${key}, which the @connect on the type needs`,
      );
    }
    for (const field of Object.values(type.getFields())) {
      if (!names.has(field.name)) this.#provided(type, field, () => connector.placeOf(at));
    }
  }

  #member(type: GraphQLObjectType, member: Member, connector: Connector): void {
    const coordinate = `${type.name}.${member.name}`;
    const field = type.getFields()[member.name];
    if (field === undefined) {
      this.#wrongAt(
        connector,
        member.at,
        coordinate,
        `the selection returns "${member.name}", which is not in the contract`,
      );
      return;
    }
    if (Object.values(ownFields(this.#contract)).includes(coordinate)) {
      this.#wrongAt(connector, member.at, coordinate, 'comes from the access token and cannot be mapped');
    }
    if (field.args.length > 0) {
      this.#wrong(field.astNode, coordinate, 'has arguments, so it needs its own @connect to use them');
    }
    this.#value(getNamedType(field.type), member.value, connector, coordinate);
  }

  #provided(
    type: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
    place: (() => ReturnType<typeof placeOf>) | undefined,
  ): void {
    const coordinate = `${type.name}.${field.name}`;
    const { unread, complete } = this.#mapping;
    if (!complete || unread.has(coordinate) || unread.has(type.name)) return;
    if (this.#givenOtherwise(type.name, field.name) !== undefined) return;
    if (place === undefined) this.#wrong(field.astNode, coordinate, 'nothing provides this field');
    else this.#mistakes.add(place(), coordinate, 'nothing provides this field');
  }

  /** What provides a field other than the selection that its object comes from. */
  #givenOtherwise(type: string, name: string): string | undefined {
    if (this.#mapping.fields.has(`${type}.${name}`)) return 'its own @connect';
    if (this.#mapping.remote.fields.has(`${type}.${name}`)) return 'its own @graphql';
    return givenByBatch(this.#mapping.types.get(type), name) === undefined ? undefined : `the @connect on ${type}`;
  }

  #membersOf(selection: Selection, connector: Connector, coordinate: string): readonly Member[] | undefined {
    if (selection.kind === 'members') return selection.members;
    const [chain] = selection.chains;
    if (selection.chains.length === 1 && chain?.members !== undefined) return chain.members;
    this.#wrongAt(connector, selection.at, coordinate, 'is an object in the contract: list its fields in { }');
    return undefined;
  }

  #wrongAt(connector: Connector, at: number, coordinate: string, message: string): void {
    this.#mistakes.add(connector.placeOf(at), coordinate, message);
  }

  #wrong(node: ASTNode | null | undefined, coordinate: string, message: string): void {
    this.#mistakes.add(placeOf(node), coordinate, message);
  }
}
