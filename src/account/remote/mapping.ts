import type { ConstDirectiveNode } from 'graphql';
import type { DirectiveArguments, UpstreamArgument } from '../connect/directives.ts';

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
