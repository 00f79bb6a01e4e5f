import type { Config } from '../config/schema.ts';
import type { SessionOver } from '../oauth/challenge.ts';
import type { Principal } from '../oauth/principal.ts';
import type { OnLine } from './body-lines.ts';
import type { CredentialOf } from './credentials/credential.ts';
import type { IdentityFor } from './identity.ts';
import type { Pools } from './pools.ts';

/** What sending requests to upstreams takes, for apps and for the gate itself. */
export interface UpstreamAccess {
  readonly upstreams: Config['upstreams'];
  readonly pools: Pools;
  readonly identity: IdentityFor;
  /** Credentials for upstreams that do not read our identity headers. */
  readonly credentials?: CredentialOf;
  /** Our public origin: a backend that insists on its public name and on https must accept the gate's own calls too. */
  readonly origin: string;
}

/** One of the gate's own calls to an upstream, for the Account API and the login connectors. */
export interface UpstreamRequest {
  /** The upstream's name in the configuration. */
  readonly upstream: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query under the upstream's URL, starting with '/' and already percent-encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  /**
   * Called with each line of a successful `application/x-ndjson` or `text/event-stream` response as it arrives. A line that shows that the
   * upstream is at work restarts its timeout.
   */
  readonly onLine?: OnLine | undefined;
}

/** A call on someone's behalf: the upstream receives their identity and what its `credential` has for them. */
export interface PrincipalRequest extends UpstreamRequest {
  readonly principal: Principal;
}

export interface UpstreamResponse {
  readonly status: number;
  /** Field names in lower case. Repeated fields are joined by ', ', Set-Cookie by a line feed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Calls an upstream. Never follows a redirect; responses over 2 MiB are refused. Any HTTP status is a response, not a
 * failure.
 * Throws GatewayError `upstream_unreachable`, `upstream_timeout`, `upstream_invalid`, `upstream_overloaded` or
 * `upstream_unavailable`.
 */
export type CallUpstream = (request: UpstreamRequest) => Promise<UpstreamResponse>;

/** The same on behalf of a principal, or the refusal of a member whose session is over. */
export type CallForPrincipal = (request: PrincipalRequest) => Promise<UpstreamResponse | SessionOver>;
