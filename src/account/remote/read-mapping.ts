import type { ConstDirectiveNode } from 'graphql';
import { DirectiveReader } from '../connect/directive-reader.ts';
import type { MappingReading } from '../connect/mapping.ts';
import { viewerTypeOf } from '../contract-fields.ts';

/** Reads a @upstreamName. */
export function readUpstreamName(reading: MappingReading, node: ConstDirectiveNode, coordinate: string): void {
  const reader = new DirectiveReader(node, coordinate, reading.mistakes);
  const values = reader.arguments('upstreamName');
  if (values === undefined || !isKnownSource(reading, values.source, reader)) return;
  const { names } = reading.remote;
  const key = `${values.source} ${coordinate}`;
  const named = { node, name: values.name, arguments: values.arguments ?? [] };
  names.set(key, [...(names.get(key) ?? []), named]);
}

/** Reads a @graphql. */
export function readRemoteField(reading: MappingReading, node: ConstDirectiveNode, coordinate: string): void {
  const { contract, remote, unread } = reading;
  const reader = new DirectiveReader(node, coordinate, reading.mistakes);
  const values = reader.arguments('graphql');
  if (values === undefined || !isKnownSource(reading, values.source, reader)) return;
  const [type] = coordinate.split('.');
  const viewer = viewerTypeOf(contract);
  const [query, mutation] = [contract.getQueryType()?.name, contract.getMutationType()?.name];
  if (type !== viewer && type !== query && type !== mutation) {
    const where = `${query}, ${viewer} or Mutation`;
    reader.wrong(`@graphql is for fields of ${where}; everything below them is included`);
    return;
  }
  unread.delete(coordinate);
  remote.fields.set(coordinate, { ...values, coordinate, node, arguments: values.arguments ?? [] });
}

function isKnownSource({ sources }: MappingReading, source: string, reader: DirectiveReader): boolean {
  if (sources.get(source)?.graphql !== undefined) return true;
  reader.wrong(`no @source with graphql is named "${source}"`, 'source');
  return false;
}
