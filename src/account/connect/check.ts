import {
  type ASTNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { fieldAt, tokenFields } from '../contract-fields.ts';
import { isUnsupportedScalar, SCALAR_NAMES } from '../scalars.ts';
import type { Connector } from './connector.ts';
import { type FieldMapping, givenByBatch, type Mapping, type TypeMapping } from './mapping.ts';
import { type FilePosition, type Mistakes, placeOf } from './mistakes.ts';
import { isInternalName, membersOf, type Selection, type SelectionMember } from './syntax.ts';

/** The fields of a connection, which the gateway fills. */
const CONNECTION_FIELDS = ['nodes', 'edges', 'pageInfo', 'totalCount'];

/**
 * Checks a mapping against the contract: every field has exactly one source, every selection returns what the contract
 * declares, and everything that depends on an upstream is nullable, so that a failure affects nothing else.
 * Mistakes are added to the list.
 */
export function checkMapping(contract: GraphQLSchema, mapping: Mapping, mistakes: Mistakes): void {
  const query = contract.getQueryType();
  const viewer = query?.getFields().viewer;
  const viewerType = viewer && getNamedType(viewer.type);
  if (!query || !isObjectType(viewerType) || String(viewerType.getFields().id?.type) !== 'ID!') {
    const message = 'the contract must have Query.viewer of an object type with id: ID!';
    wrong(query?.astNode, 'Query.viewer', message);
    return;
  }
  const [mutation, subscription] = [contract.getMutationType(), contract.getSubscriptionType()];
  if (subscription) wrong(subscription.astNode, subscription.name, 'subscriptions cannot be mapped');
  const fromToken = tokenFields(contract);
  for (const type of [query, viewerType, ...(mutation ? [mutation] : [])]) {
    for (const field of Object.values(type.getFields())) {
      if (!fromToken.includes(`${type.name}.${field.name}`)) checkProvided(type, field);
    }
  }
  for (const field of mapping.fields.values()) checkField(field);
  for (const type of mapping.types.values()) checkType(type);

  function wrong(node: ASTNode | null | undefined, coordinate: string, message: string): void {
    mistakes.add(placeOf(node), coordinate, message);
  }

  /** The same at an offset in a connector's selection. */
  function wrongAt(connector: Connector, at: number, coordinate: string, message: string): void {
    mistakes.add(connector.placeOf(at), coordinate, message);
  }

  function checkType({ type, connector, key, single, required }: TypeMapping): void {
    const members = listedMembers(connector.selection, connector, type);
    if (members === undefined) return;
    if (!single && !members.some(({ name }) => name === key))
      wrongAt(connector, connector.selection.at, type, `the selection does not return the key ${key}`);
    const object = contract.getType(type);
    if (!isObjectType(object)) return;
    for (const member of members.filter(({ name }) => name !== key)) {
      const field = object.getFields()[member.name];
      if (field && isNonNullType(field.type) && !required) {
        const message = 'comes from a separate upstream call, so it must be nullable, or its batch required: true';
        wrong(field.astNode, `${type}.${member.name}`, message);
      }
      checkMember(object, member, connector);
    }
  }

  function checkField({ coordinate, connector, pages, node, usedArguments, usedSiblings }: FieldMapping): void {
    const { type, field } = fieldAt(contract, coordinate);
    if (isNonNullType(field.type))
      wrong(field.astNode, coordinate, 'comes from a separate upstream call, so it must be nullable');
    for (const { name, astNode } of field.args) {
      if (!usedArguments.has(name)) wrong(astNode, coordinate, `nothing uses the argument ${name}`);
    }
    for (const name of usedSiblings) {
      const giver = otherProvider(type.name, name);
      if (giver === undefined) continue;
      wrong(node, coordinate, `$this.${name} comes from ${giver}, which may not have responded yet`);
    }
    const target = getNamedType(field.type);
    if (pages === undefined) {
      checkValue(target, connector.selection, connector, coordinate);
      return;
    }
    const given = isObjectType(target) ? target.getFields() : {};
    const argumentsFit = ['first: Int', 'after: String'].every((wanted) => {
      return field.args.some((argument) => `${argument.name}: ${argument.type}` === wanted);
    });
    if (!given.nodes || Object.keys(given).some((name) => !CONNECTION_FIELDS.includes(name)) || !argumentsFit) {
      const wanted = `${CONNECTION_FIELDS.join(', ')} and arguments first: Int, after: String`;
      wrong(node, coordinate, `@connection: the contract's field needs a type of ${wanted}`);
    } else checkValue(getNamedType(given.nodes.type), connector.selection, connector, coordinate);
  }

  /** Checks that a selection can return a value of a type. */
  function checkValue(target: GraphQLNamedType, selection: Selection, connector: Connector, coordinate: string): void {
    if (isObjectType(target)) {
      const members = listedMembers(selection, connector, coordinate);
      if (members !== undefined) checkObject(target, members, connector, selection.at);
    } else if (isLeafType(target)) {
      if (isUnsupportedScalar(target))
        wrong(target.astNode, target.name, `unsupported scalar; supported are ${[...SCALAR_NAMES].join()}`);
      if (selection.kind === 'members' || selection.chains.some(({ members }) => members !== undefined))
        wrongAt(connector, selection.at, coordinate, `returns an object, but the contract has ${target.name}`);
    } else wrongAt(connector, selection.at, coordinate, 'only objects, scalars and enums can be mapped');
  }

  function checkObject(
    type: GraphQLObjectType,
    members: readonly SelectionMember[],
    connector: Connector,
    at: number,
  ): void {
    for (const member of members) {
      const giver = otherProvider(type.name, member.name);
      if (giver !== undefined)
        wrongAt(connector, member.at, `${type.name}.${member.name}`, `is provided both here and by ${giver}`);
      checkMember(type, member, connector);
    }
    const names = new Set(members.map(({ name }) => name));
    const lacks = (name: string, user: string) =>
      wrongAt(connector, at, type.name, `the selection does not return ${name}, which the @connect on ${user} needs`);
    const key = mapping.types.get(type.name)?.key;
    if (key !== undefined && !names.has(key)) lacks(key, 'the type');
    for (const { coordinate, usedSiblings } of mapping.fields.values()) {
      if (!coordinate.startsWith(`${type.name}.`)) continue;
      for (const name of usedSiblings) {
        if (!names.has(name) && isInternalName(name) && !(name in type.getFields())) lacks(name, coordinate);
      }
    }
    for (const field of Object.values(type.getFields())) {
      if (!names.has(field.name)) checkProvided(type, field, connector.placeOf(at));
    }
  }

  function checkMember(type: GraphQLObjectType, member: SelectionMember, connector: Connector): void {
    const coordinate = `${type.name}.${member.name}`;
    const field = type.getFields()[member.name];
    if (field === undefined) {
      if (isInternalName(member.name)) return;
      const message = `the selection returns "${member.name}", which is not in the contract`;
      wrongAt(connector, member.at, coordinate, message);
      return;
    }
    if (tokenFields(contract).includes(coordinate))
      wrongAt(connector, member.at, coordinate, 'comes from the access token and cannot be mapped');
    if (field.args.length > 0)
      wrong(field.astNode, coordinate, 'has arguments, so it needs its own @connect to use them');
    checkValue(getNamedType(field.type), member.value, connector, coordinate);
  }

  function checkProvided(
    type: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
    place: FilePosition = placeOf(field.astNode),
  ): void {
    const coordinate = `${type.name}.${field.name}`;
    const { unread, complete } = mapping;
    if (!complete || unread.has(coordinate) || unread.has(type.name)) return;
    if (otherProvider(type.name, field.name) === undefined)
      mistakes.add(place, coordinate, 'nothing provides this field');
  }

  /** What provides a field other than the selection that its object comes from. */
  function otherProvider(type: string, name: string): string | undefined {
    const { fields, remote, types } = mapping;
    if (fields.has(`${type}.${name}`)) return 'its own @connect';
    if (remote.fields.has(`${type}.${name}`)) return 'its own @graphql';
    return givenByBatch(types.get(type), name) === undefined ? undefined : `the @connect on ${type}`;
  }

  function listedMembers(
    selection: Selection,
    connector: Connector,
    coordinate: string,
  ): readonly SelectionMember[] | undefined {
    const members = membersOf(selection);
    if (members === undefined)
      wrongAt(connector, selection.at, coordinate, 'is an object in the contract: list its fields in { }');
    return members;
  }
}
