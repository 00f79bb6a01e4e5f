import type { TextFile } from '../config/account-files.ts';
import type { CallForPrincipal } from '../upstream/request.ts';
import type { MergeTypes } from './contract.ts';
import type { OnError } from './errors.ts';
import type { Limits } from './limits.ts';
import type { RecordedFile } from './remote/recorded.ts';

export interface AccountOptions {
  /** The contract: the schema that clients see. */
  readonly schema: readonly TextFile[];
  readonly mappings: readonly TextFile[];
  /** From `mergingFor`. */
  readonly merge?: MergeTypes | undefined;
  /** The recorded schemas of GraphQL upstreams. */
  readonly recorded?: readonly RecordedFile[];
  /** The names of the configured upstreams. */
  readonly upstreams: readonly string[];
  /** The upstreams that get one key for all members. */
  readonly keyed?: readonly string[] | undefined;
  /** The values of $config in mappings. The secret part is never sent to a client. */
  readonly config: {
    readonly open: Readonly<Record<string, string | number | boolean>>;
    readonly secret: Readonly<Record<string, string>>;
  };
  /** The configured scopes, which @requiresScopes may name. */
  readonly scopes: readonly string[];
  /** URL of the protected resource metadata, for challenges (RFC 9728 section 5.1). */
  readonly metadataUrl: string;
  readonly limits: Limits;
  readonly introspection: boolean;
  /** Trusted documents, which clients request by id. `only` refuses all others. */
  readonly documents: { readonly file: TextFile; readonly only: boolean } | undefined;
  readonly call: CallForPrincipal;
  /** Maximum size of a request body in bytes. */
  readonly bodyLimit: number;
  /** Seconds for a whole operation. The response then contains what has arrived by that time. */
  readonly deadline: number;
  /** The IANA time zone of local times in upstreams' answers. Defaults to UTC. */
  readonly timeZone?: string | undefined;
  /** Called with what is hidden from clients: unexpected errors, and why an upstream's answer could not be used. */
  readonly onError?: OnError;
}
