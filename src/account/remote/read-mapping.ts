import type { ConstDirectiveNode } from 'graphql';
import type { MappingReading } from '../connect/mapping.ts';
import { ownFields } from '../connect/own-fields.ts';
import { literalAt, readDirective } from '../connect/read-directive.ts';

/** Reads a @upstreamName. */
export function readUpstreamName(reading: MappingReading, node: ConstDirectiveNode, coordinate: string): void {
  const values = readDirective('upstreamName', node, coordinate, reading.mistakes);
  if (values === undefined || !isKnownSource(reading, values.source, node, coordinate)) return;
  const { names } = reading.remote;
  const key = `${values.source} ${coordinate}`;
  const named = { node, name: values.name, arguments: values.arguments ?? [] };
  names.set(key, [...(names.get(key) ?? []), named]);
}

/** Reads a @graphql. */
export function readRemoteField(reading: MappingReading, node: ConstDirectiveNode, coordinate: string): void {
  const { contract, remote, unread, wrong } = reading;
  const values = readDirective('graphql', node, coordinate, reading.mistakes);
  if (values === undefined || !isKnownSource(reading, values.source, node, coordinate)) return;
  const [type] = coordinate.split('.');
  const [viewer] = ownFields(contract).id.split('.');
  const [query, mutation] = [contract.getQueryType()?.name, contract.getMutationType()?.name];
  if (type !== viewer && type !== query && type !== mutation) {
    const where = `${query}, ${viewer} or Mutation`;
    wrong(node, coordinate, `@graphql is for fields of ${where}; everything below them is included`);
    return;
  }
  unread.delete(coordinate);
  remote.fields.set(coordinate, { ...values, coordinate, node, arguments: values.arguments ?? [] });
}

function isKnownSource(
  { sources, wrong }: MappingReading,
  source: string,
  node: ConstDirectiveNode,
  coordinate: string,
): boolean {
  if (sources.get(source)?.graphql !== undefined) return true;
  wrong(literalAt(node, 'source'), coordinate, `no @source with graphql is named "${source}"`);
  return false;
}
