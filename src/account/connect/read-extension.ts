import {
  type ASTNode,
  type ConstDirectiveNode,
  type EnumTypeExtensionNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  type GraphQLSchema,
  type InputObjectTypeExtensionNode,
  type InputValueDefinitionNode,
  isEnumType,
  isInputObjectType,
  isObjectType,
  Kind,
  type ObjectTypeExtensionNode,
  print,
} from 'graphql';
import { tokenFields } from '../contract-fields.ts';
import { readRemoteField, readUpstreamName } from '../remote/read-mapping.ts';
import type { MappingReading } from './mapping.ts';
import { readFieldConnector, readTypeConnector } from './read-connector.ts';

export type Extension = ObjectTypeExtensionNode | EnumTypeExtensionNode | InputObjectTypeExtensionNode;
type Part = FieldDefinitionNode | EnumValueDefinitionNode | InputValueDefinitionNode;

export function isExtension(node: ASTNode): node is Extension {
  const kinds: readonly string[] = [
    Kind.OBJECT_TYPE_EXTENSION,
    Kind.ENUM_TYPE_EXTENSION,
    Kind.INPUT_OBJECT_TYPE_EXTENSION,
  ];
  return kinds.includes(node.kind);
}

/** Reads the extension of a type: the directives on it and on its fields or values. */
export function readExtension(reading: MappingReading, extension: Extension): void {
  const name = extension.name.value;
  const isObject = extension.kind === Kind.OBJECT_TYPE_EXTENSION;
  const types = typesOfParts(reading.contract, extension);
  if (types === undefined) {
    reading.wrong(extension.name, name, `the contract has no such ${isObject ? 'object type' : 'type'}`);
    return;
  }
  for (const node of extension.directives ?? []) {
    if (isObject && node.name.value === 'connect') readTypeConnector(reading, node, name, types.keys());
    else if (isObject && node.name.value === 'upstreamName') readUpstreamName(reading, node, name);
    else reading.wrong(node, name, `@${node.name.value} is not allowed here`);
  }
  const parts: readonly Part[] =
    (extension.kind === Kind.ENUM_TYPE_EXTENSION ? extension.values : extension.fields) ?? [];
  for (const part of parts) {
    const coordinate = `${name}.${part.name.value}`;
    if (types.has(part.name.value)) readPart(reading, part, coordinate, types.get(part.name.value), isObject);
    else reading.wrong(part, coordinate, `the contract has ${isObject ? 'no such field' : 'nothing with this name'}`);
  }
}

/** The parts of the contract's type by name, each with its type as text; a value of an enum has none. */
function typesOfParts(contract: GraphQLSchema, { kind, name }: Extension): Map<string, string | undefined> | undefined {
  const type = contract.getType(name.value);
  if (kind === Kind.ENUM_TYPE_EXTENSION)
    return isEnumType(type) ? new Map(type.getValues().map((value) => [value.name, undefined])) : undefined;
  if (!isObjectType(type) && !isInputObjectType(type)) return undefined;
  if (isObjectType(type) !== (kind === Kind.OBJECT_TYPE_EXTENSION)) return undefined;
  const fields: readonly { readonly name: string; readonly type: unknown }[] = Object.values(type.getFields());
  return new Map(fields.map((field) => [field.name, String(field.type)]));
}

function readPart(
  reading: MappingReading,
  part: Part,
  coordinate: string,
  type: string | undefined,
  isObject: boolean,
): void {
  const { contract, fields, remote, unread, wrong } = reading;
  const directives: readonly ConstDirectiveNode[] = part.directives ?? [];
  const has = (name: string) => directives.some((node) => node.name.value === name);
  const isNamed = !isObject || (has('upstreamName') && !has('graphql'));
  if (!isNamed && !fields.has(coordinate) && !remote.fields.has(coordinate)) unread.add(coordinate);
  if (!isNamed && tokenFields(contract).includes(coordinate)) {
    wrong(part, coordinate, 'comes from the access token and cannot be mapped');
    return;
  }
  if ('type' in part && print(part.type) !== type) {
    wrong(part.type, coordinate, `is ${type} in the contract, not ${print(part.type)}`);
    return;
  }
  const [argument] = ('arguments' in part && part.arguments) || [];
  if (argument !== undefined) wrong(argument, coordinate, 'arguments belong in the contract, not here');
  const allowed = isNamed ? ['upstreamName'] : has('graphql') ? ['graphql', 'upstreamName'] : ['connect', 'connection'];
  const found = new Map<string, ConstDirectiveNode>();
  for (const node of directives) {
    const name = node.name.value;
    if (!allowed.includes(name)) wrong(node, coordinate, `@${name} is not allowed here`);
    else if (name === 'upstreamName') readUpstreamName(reading, node, coordinate);
    else found.set(name, node);
  }
  const [connect, graphql] = [found.get('connect'), found.get('graphql')];
  if (isNamed && directives.length > 0) return;
  if (connect === undefined && graphql === undefined)
    wrong(part, coordinate, `needs @${isNamed ? 'upstreamName' : 'connect'}`);
  else if (fields.has(coordinate) || remote.fields.has(coordinate)) wrong(part, coordinate, 'is mapped twice');
  else if (graphql !== undefined) readRemoteField(reading, graphql, coordinate);
  else if (connect !== undefined) readFieldConnector(reading, connect, found.get('connection'), coordinate);
}
