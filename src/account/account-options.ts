import type { CallForPrincipal } from '../upstream/request.ts';
import type { OnError } from './errors.ts';
import type { KnownNames } from './schema.ts';
import type { AccountLimits } from './settings.ts';
import type { TextFile } from './settings-files.ts';

/** `upstreams` and `scopes` are the configured ones. */
export interface AccountOptions extends Omit<KnownNames, 'config'> {
  /** The contract: the schema that clients see. */
  readonly schema: readonly TextFile[];
  readonly mappings: readonly TextFile[];
  /** The values of $config in mappings. The secret part is never sent to a client. */
  readonly config: {
    readonly open: Readonly<Record<string, string | number | boolean>>;
    readonly secret: Readonly<Record<string, string>>;
  };
  /** URL of the protected resource metadata, for challenges (RFC 9728 section 5.1). */
  readonly metadataUrl: string;
  readonly limits: AccountLimits;
  readonly introspection: boolean;
  /** Trusted documents, which clients request by id. `only` refuses all others. */
  readonly documents: { readonly file: TextFile; readonly only: boolean } | undefined;
  readonly call: CallForPrincipal;
  /** Maximum size of a request body in bytes. */
  readonly bodyLimit: number;
  /** Seconds for a whole operation. The response then contains what has arrived by that time. */
  readonly deadline: number;
  /** Called with what is hidden from clients: unexpected errors, and why an upstream's answer could not be used. */
  readonly onError?: OnError;
}
