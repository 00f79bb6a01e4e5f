import type { ConstDirectiveNode } from 'graphql';
import { fieldAt } from '../field-at.ts';
import { type Connector, compileConnector } from './connector.ts';
import { type ConnectionStyle, type DirectiveArguments, METHODS } from './directives.ts';
import { compileSelection, type Evaluate } from './evaluate.ts';
import { inputKeys } from './input-keys.ts';
import type { MappingReading, PageMapping } from './mapping.ts';
import { literalAt, readDirective } from './read-directive.ts';
import { type Allowed, keys } from './references.ts';
import { memberNames } from './selection-names.ts';
import { TextReader } from './text-reader.ts';

const PAGE_SIZES = { least: 10, most: 1000 };
/** Limit on a list without pages; the response size limits it further. */
const WHOLE_LIST = 1_000_000;
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
  const reader = new TextReader(node, type, mistakes);
  unread.add(type);
  const values = readDirective('connect', node, type, mistakes);
  if (values === undefined || !isKnownSource(reading, values, reader)) return;
  const { batch } = values;
  if (types.has(type) || batch === undefined) {
    reader.wrong(node, batch === undefined ? 'a @connect on a type needs batch' : 'already has a @connect');
    return;
  }
  const { maxSize, required } = batch;
  if (values.each !== undefined) reader.wrong(node, 'each is only for a @connect on a field');
  within(maxSize, BATCH_SIZES, 'batch.maxSize', node, reader);
  const connector = readCall(reading, values, reader, { batch: keys(fields) }, {}, false);
  if (connector === undefined) return;
  const [key, ...more] = reader.named.get('batch') ?? [];
  if (key === undefined || more.length > 0) {
    reader.wrong(node, 'http must use exactly one key of the objects as $batch.key');
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
  const reader = new TextReader(node, coordinate, mistakes);
  const values = readDirective('connect', node, coordinate, mistakes);
  const paging = connection && readDirective('connection', connection, coordinate, mistakes);
  if (values === undefined || !isKnownSource(reading, values, reader)) return;
  if (values.batch !== undefined) reader.wrong(node, 'batch is only for a @connect on a type');
  const writes = type === contract.getMutationType();
  if (values.each !== undefined && (writes || connection !== undefined)) {
    reader.wrong(literalAt(node, 'each'), 'each is not for a mutation or a connection');
  }
  if (writes && connection !== undefined) reader.wrong(connection, '@connection: a mutation cannot be a connection');
  const args = inputKeys(field.args, paging === undefined ? [] : ['first', 'after']);
  const isRoot = writes || type === contract.getQueryType();
  const ofField = { args, ...(isRoot ? {} : { this: keys(Object.keys(type.getFields())) }) };
  const page = paging === undefined ? {} : { page: keys(PAGE_KEYS[paging.style]) };
  const each: Allowed = values.each === undefined ? {} : { each: 'value' };
  const connector = readCall(reading, values, reader, { ...ofField, ...page, ...each }, ofField, writes);
  const pages = connection && paging && readPages(paging, connection, reader, reading.inSelection);
  if (connector === undefined || (connection !== undefined && pages === undefined)) return;
  const [place] = pages === undefined ? [] : PAGE_KEYS[pages.style];
  if (connection !== undefined && place !== undefined && !reader.named.get('page')?.has(place)) {
    reader.wrong(connection, `@connection: http does not use $page.${place}`);
  }
  // `first` and `after` of a connection choose the window and are not available to the mapping.
  const usedArguments = new Set([
    ...(reader.named.get('args') ?? []),
    ...(pages === undefined ? [] : ['first', 'after']),
  ]);
  const usedSiblings = new Set(reader.named.get('this'));
  unread.delete(coordinate);
  fields.set(coordinate, { coordinate, node, connector, pages, usedArguments, usedSiblings });
}

/** Reads the call of a @connect. An upstream with one key for all members must be told which one the call is for. */
function readCall(
  { inRequest, inSelection, names }: MappingReading,
  values: DirectiveArguments['connect'],
  reader: TextReader,
  request: Allowed,
  selection: Allowed,
  writes: boolean,
): Connector | undefined {
  const connector = compileConnector(values, reader, {
    writes,
    methods: writes ? METHODS : ['GET', 'POST'],
    inRequest: { ...inRequest, ...request },
    inSelection: { ...inSelection, ...selection },
  });
  if (connector === undefined || connector.namesMember || !names.keyed?.includes(values.source)) return connector;
  const message = `"${values.source}" has one key for all members, so http must use $context.sub`;
  reader.wrong(literalAt(reader.node, 'source'), message);
  return undefined;
}

function readPages(
  values: DirectiveArguments['connection'],
  node: ConstDirectiveNode,
  reader: TextReader,
  allowed: Allowed,
): PageMapping | undefined {
  const { style, pageSize } = values;
  const wrong = (message: string) => reader.wrong(node, `@connection: ${message}`);
  if (style === 'ALL' && pageSize !== undefined) wrong('style ALL has no pageSize');
  if (style === 'ALL' && values.next !== undefined) wrong('style ALL has no next');
  if (style !== 'ALL' && pageSize === undefined) wrong('the argument pageSize is missing');
  if (style === 'CURSOR' && values.next === undefined) wrong('the argument next is missing');
  if (pageSize !== undefined) within(pageSize, PAGE_SIZES, 'pageSize', node, reader);
  const compile = (name: 'nodes' | 'filter' | 'next' | 'total'): Evaluate | undefined => {
    if (typeof values[name] !== 'string') return undefined;
    const selection = reader.expression(literalAt(node, name), `@connection: ${name}`, allowed);
    return selection && compileSelection(selection);
  };
  const [nodes, filter, next, total] = [compile('nodes'), compile('filter'), compile('next'), compile('total')];
  return nodes && { style, pageSize: pageSize ?? WHOLE_LIST, nodes, filter, next, total };
}

function isKnownSource(
  { sources }: MappingReading,
  { source }: DirectiveArguments['connect'],
  reader: TextReader,
): boolean {
  if (sources.has(source)) return true;
  reader.wrong(literalAt(reader.node, 'source'), `no @source is named "${source}"`);
  return false;
}

function within(
  value: number,
  { least, most }: typeof PAGE_SIZES,
  name: string,
  node: ConstDirectiveNode,
  reader: TextReader,
): void {
  if (value < least || value > most) reader.wrong(node, `${name} must be from ${least} to ${most}`);
}
