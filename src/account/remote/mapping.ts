import type { ConstDirectiveNode } from 'graphql';
import type { DirectiveArguments, UpstreamArgument } from '../connect/directives.ts';
import type { Reading } from '../connect/mapping.ts';
import { ownFields } from '../connect/own-fields.ts';
import { literalAt, readDirective } from '../connect/read-directive.ts';

/**
 * A field of the contract that starts an operation to a GraphQL upstream. Without `root`, it is itself a root field there.
 */
export interface RemoteField extends Pick<DirectiveArguments['graphql'], 'source' | 'root' | 'member' | 'name'> {
  readonly coordinate: string;
  readonly node: ConstDirectiveNode;
  readonly arguments: readonly UpstreamArgument[];
}

/** The upstream's name for a part of the contract. */
export interface UpstreamName {
  readonly node: ConstDirectiveNode;
  readonly name: string;
  readonly arguments: readonly UpstreamArgument[];
}

export interface RemoteMapping {
  /** Keyed by coordinate, such as `Viewer.eventRegistrations`. */
  readonly fields: ReadonlyMap<string, RemoteField>;
  /** Keyed by source and coordinate (`Event`, `Event.title`, `EventStatus.CONFIRMED`), in the order of the file. */
  readonly names: ReadonlyMap<string, readonly UpstreamName[]>;
}

/** Reads a @upstreamName. */
export function readUpstreamName(reading: Reading, node: ConstDirectiveNode, coordinate: string): void {
  const values = readDirective('upstreamName', node, coordinate, reading.mistakes);
  if (values === undefined || !isKnownSource(reading, values.source, node, coordinate)) return;
  const { names } = reading.remote;
  const key = `${values.source} ${coordinate}`;
  const named = { node, name: values.name, arguments: values.arguments ?? [] };
  names.set(key, [...(names.get(key) ?? []), named]);
}

/** Reads a @graphql. */
export function readRemoteField(reading: Reading, node: ConstDirectiveNode, coordinate: string): void {
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
  { sources, wrong }: Reading,
  source: string,
  node: ConstDirectiveNode,
  coordinate: string,
): boolean {
  if (sources.get(source)?.graphql !== undefined) return true;
  wrong(literalAt(node, 'source'), coordinate, `no @source with graphql is named "${source}"`);
  return false;
}
