import type { Principal } from '../oauth/principal.ts';

/** One call of ours to an upstream, for the Account API and the login connectors. */
export interface UpstreamRequest {
  /** The upstream's name in the configuration. */
  readonly upstream: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query under the upstream's URL, beginning with '/', already percent-encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /**
   * Who the call is for: the upstream is shown their identity, and what its `credential` has for them. Left out, it is a
   * call of the gate's own, which shows neither.
   */
  readonly principal?: Principal;
  readonly signal?: AbortSignal;
}

export interface UpstreamResponse {
  readonly status: number;
  /** Field names in lower case; repeated fields joined by ', ' except set-cookie. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Calls an upstream. Never follows a redirect; answers over 2 MiB are refused. Throws GatewayError
 * `session_over`,
 * `upstream_unreachable`, `upstream_timeout`, `upstream_invalid`, `upstream_overloaded` or `upstream_unavailable`; any HTTP status is an answer, not a failure.
 */
export type CallUpstream = (request: UpstreamRequest) => Promise<UpstreamResponse>;
