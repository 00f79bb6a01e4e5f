import type { ConstDirectiveNode, GraphQLSchema } from 'graphql';
import type { Connector, HeaderTemplate } from './connector.ts';
import type { ConnectionStyle, DirectiveArguments, UpstreamArgument } from './directives.ts';
import type { Evaluate } from './evaluate.ts';
import type { Mistakes, placeOf } from './mistakes.ts';
import type { Available } from './references.ts';
import type { ResponseRules } from './response-rules.ts';
import { memberNames } from './syntax.ts';

/** A field with its own upstream call. */
export interface FieldMapping {
  readonly coordinate: string;
  readonly node: ConstDirectiveNode;
  readonly connector: Connector;
  readonly pages: PageMapping | undefined;
  /** The field's arguments that the mapping uses. */
  readonly usedArguments: ReadonlySet<string>;
  /** The fields of the parent object that the mapping uses. */
  readonly usedSiblings: ReadonlySet<string>;
}

export interface PageMapping {
  readonly style: ConnectionStyle;
  /** Items per page; for style ALL, the limit on the whole list. */
  readonly pageSize: number;
  readonly nodes: Evaluate;
  /** Whether an item belongs to the connection; undefined if all do. */
  readonly filter: Evaluate | undefined;
  readonly next: Evaluate | undefined;
  readonly total: Evaluate | undefined;
}

/** A type whose objects get fields from a batched call. */
export interface TypeMapping {
  readonly type: string;
  readonly connector: Connector;
  readonly key: string;
  readonly maxSize: number;
  /** Whether objects without these fields are left out, and fail when the call fails. */
  readonly required: boolean;
  /** Whether a call is for one object, whose response need not contain the key. */
  readonly single: boolean;
}

/** An upstream, with the settings of all calls to it. */
interface SourceMapping {
  readonly headers: readonly HeaderTemplate[];
  readonly response: ResponseRules;
  /** The path that operations are posted to; undefined if the upstream does not speak GraphQL. */
  readonly graphql: { readonly path: string } | undefined;
}

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

interface RemoteMapping {
  /** Keyed by coordinate, such as `Viewer.eventRegistrations`. */
  readonly fields: ReadonlyMap<string, RemoteField>;
  /** Keyed by source and coordinate (`Event`, `Event.title`, `EventStatus.CONFIRMED`), in the order of the file. */
  readonly names: ReadonlyMap<string, readonly UpstreamName[]>;
}

/** The names that mappings can refer to besides those of the contract. */
export interface MappingNames {
  readonly upstreams: readonly string[];
  /** The upstreams with one key for all members, which therefore return any member's records. */
  readonly keyed?: readonly string[] | undefined;
  /** The keys of $config. Secret ones can be used in calls but never in a selection. */
  readonly config: { readonly open: readonly string[]; readonly secret: readonly string[] };
  /** The IANA time zone of local times. Defaults to UTC. */
  readonly timeZone?: string | undefined;
}

export interface Mapping {
  readonly sources: ReadonlyMap<string, SourceMapping>;
  /** Keyed by coordinate, such as `Viewer.email`. */
  readonly fields: ReadonlyMap<string, FieldMapping>;
  /** Keyed by type name. */
  readonly types: ReadonlyMap<string, TypeMapping>;
  /** The fields that come from GraphQL upstreams. */
  readonly remote: RemoteMapping;
  /** The IANA time zone of local times. */
  readonly timeZone: string;
  /** Coordinates and types whose mapping has mistakes, so that they are not also reported as unmapped. */
  readonly unread: ReadonlySet<string>;
  /** Whether every file could be parsed. */
  readonly complete: boolean;
}

/** What has been read so far, and what every part of the mapping is read with. */
export interface MappingReading extends Omit<Mapping, 'complete'> {
  readonly contract: GraphQLSchema;
  readonly names: MappingNames;
  readonly mistakes: Mistakes;
  readonly wrong: (node: Parameters<typeof placeOf>[0], coordinate: string, message: string) => void;
  /** The variables that every call and every selection can use. */
  readonly inRequest: Available;
  readonly inSelection: Available;
  readonly sources: Map<string, SourceMapping>;
  readonly fields: Map<string, FieldMapping>;
  readonly types: Map<string, TypeMapping>;
  readonly remote: { readonly fields: Map<string, RemoteField>; readonly names: Map<string, UpstreamName[]> };
  readonly unread: Set<string>;
}

/** The key of the type's batch if the batch provides this field, otherwise undefined. */
export function givenByBatch(batch: TypeMapping | undefined, name: string): string | undefined {
  if (batch === undefined || name === batch.key) return undefined;
  return memberNames(batch.connector.selection).has(name) ? batch.key : undefined;
}
