import type { ConstDirectiveNode } from 'graphql';
import { fieldAt } from '../contract-fields.ts';
import { type Connector, compileConnector } from './connector.ts';
import { DirectiveReader } from './directive-reader.ts';
import type { ConnectionStyle, DirectiveArguments } from './directives.ts';
import type { MappingReading, PageMapping } from './mapping.ts';
import { type Available, inputKeys, keys } from './references.ts';
import { memberNames } from './syntax.ts';

const PAGE_SIZES = { least: 10, most: 1000 };
/** Limit on a list without pages; the response size limits it further. */
const WHOLE_LIST = 1_000_000;
/** The keys of $page. The first says which page it is, so http must use it. */
const PAGE_KEYS: Readonly<Record<ConnectionStyle, readonly string[]>> = {
  PAGE: ['number', 'size'],
  OFFSET: ['offset', 'size'],
  CURSOR: ['cursor', 'size'],
  ALL: [],
};
const BATCH_SIZES = { least: 1, most: 1000 };

/** Reads a @connect on a type: one call that adds fields to many objects. */
export function readTypeConnector(
  reading: MappingReading,
  node: ConstDirectiveNode,
  type: string,
  fields: Iterable<string>,
): void {
  const { mistakes, types, unread } = reading;
  const reader = new DirectiveReader(node, type, mistakes);
  unread.add(type);
  const values = reader.arguments('connect');
  if (values === undefined || !isKnownSource(reading, values, reader)) return;
  const { batch } = values;
  if (types.has(type) || batch === undefined) {
    reader.wrong(batch === undefined ? 'a @connect on a type needs batch' : 'already has a @connect');
    return;
  }
  const { maxSize, required } = batch;
  if (values.each !== undefined) reader.wrong('each is only for a @connect on a field');
  checkRange(maxSize, BATCH_SIZES, 'batch.maxSize', reader);
  const connector = readCall(reading, values, reader, { batch: keys(fields) }, {}, false);
  if (connector === undefined) return;
  const [key, ...more] = reader.used.get('batch') ?? [];
  if (key === undefined || more.length > 0) {
    reader.wrong('http must use exactly one key of the objects as $batch.key');
    return;
  }
  unread.delete(type);
  const single = maxSize === 1 && !memberNames(connector.selection).has(key);
  types.set(type, { type, connector, key, maxSize, required, single });
}

/** Reads a @connect on a field of the contract, with its @connection if there is one. */
export function readFieldConnector(
  reading: MappingReading,
  node: ConstDirectiveNode,
  connection: ConstDirectiveNode | undefined,
  coordinate: string,
): void {
  const { contract, mistakes, fields, unread } = reading;
  const { type, field } = fieldAt(contract, coordinate);
  const reader = new DirectiveReader(node, coordinate, mistakes);
  const values = reader.arguments('connect');
  const pageReader = connection && new DirectiveReader(connection, coordinate, mistakes);
  const paging = pageReader?.arguments('connection');
  if (values === undefined || !isKnownSource(reading, values, reader)) return;
  if (values.batch !== undefined) reader.wrong('batch is only for a @connect on a type');
  const writes = type === contract.getMutationType();
  if (values.each !== undefined && (writes || connection !== undefined))
    reader.wrong('each is not for a mutation or a connection', 'each');
  if (writes) pageReader?.wrong('@connection: a mutation cannot be a connection');
  // `first` and `after` of a connection choose the window and are not available to the mapping.
  const args = inputKeys(field.args, paging === undefined ? [] : ['first', 'after']);
  const isRoot = writes || type === contract.getQueryType();
  const ofField = { args, ...(isRoot ? {} : { this: keys(Object.keys(type.getFields())) }) };
  const page = paging === undefined ? {} : { page: keys(PAGE_KEYS[paging.style]) };
  const each: Available = values.each === undefined ? {} : { each: 'value' };
  const connector = readCall(reading, values, reader, { ...ofField, ...page, ...each }, ofField, writes);
  const pages = pageReader && paging && readPages(paging, pageReader, reading.inSelection);
  if (connector === undefined || (connection !== undefined && pages === undefined)) return;
  const [place] = pages === undefined ? [] : PAGE_KEYS[pages.style];
  if (place !== undefined && !reader.used.get('page')?.has(place))
    pageReader?.wrong(`@connection: http does not use $page.${place}`);
  const windowArguments = pages === undefined ? [] : ['first', 'after'];
  const usedArguments = new Set([...(reader.used.get('args') ?? []), ...windowArguments]);
  const usedSiblings = new Set(reader.used.get('this'));
  unread.delete(coordinate);
  fields.set(coordinate, { coordinate, node, connector, pages, usedArguments, usedSiblings });
}

/** Reads the call of a @connect. An upstream with one key for all members must be told which one the call is for. */
function readCall(
  { inRequest, inSelection, names }: MappingReading,
  values: DirectiveArguments['connect'],
  reader: DirectiveReader,
  request: Available,
  selection: Available,
  writes: boolean,
): Connector | undefined {
  const connector = compileConnector(values, reader, {
    writes,
    inRequest: { ...inRequest, ...request },
    inSelection: { ...inSelection, ...selection },
  });
  if (connector === undefined || connector.namesMember || !names.keyed?.includes(values.source)) return connector;
  reader.wrong(`"${values.source}" has one key for all members, so http must use $context.sub`, 'source');
  return undefined;
}

function readPages(
  { style, pageSize, next }: DirectiveArguments['connection'],
  reader: DirectiveReader,
  available: Available,
): PageMapping | undefined {
  const wrong = (message: string) => reader.wrong(`@connection: ${message}`);
  if (style === 'ALL' && pageSize !== undefined) wrong('style ALL has no pageSize');
  if (style === 'ALL' && next !== undefined) wrong('style ALL has no next');
  if (style !== 'ALL' && pageSize === undefined) wrong('the argument pageSize is missing');
  if (style === 'CURSOR' && next === undefined) wrong('the argument next is missing');
  if (pageSize !== undefined) checkRange(pageSize, PAGE_SIZES, 'pageSize', reader);
  const compile = (name: 'nodes' | 'filter' | 'next' | 'total') =>
    reader.compile([name], 'expression', available, { name: `@connection: ${name}` });
  const nodes = compile('nodes');
  const expressions = { filter: compile('filter'), next: compile('next'), total: compile('total') };
  return nodes && { style, pageSize: pageSize ?? WHOLE_LIST, nodes, ...expressions };
}

function isKnownSource(
  { sources }: MappingReading,
  { source }: DirectiveArguments['connect'],
  reader: DirectiveReader,
): boolean {
  if (sources.has(source)) return true;
  reader.wrong(`no @source is named "${source}"`, 'source');
  return false;
}

function checkRange(value: number, { least, most }: typeof PAGE_SIZES, name: string, reader: DirectiveReader): void {
  if (value < least || value > most) reader.wrong(`${name} must be from ${least} to ${most}`);
}
