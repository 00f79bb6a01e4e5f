import type { Log } from './log.ts';

/**
 * What happened, and to whom. Ids only: never a code, token, cookie or password, nor a part of one. Whoever records an
 * event does so before the answer is written, so that an answer that arrived has its line.
 */
export interface AuditEvent {
  readonly action: AuditAction;
  readonly clientId: string | undefined;
  /** Where the app gets its codes: a host name; `localhost` or a scheme for one on the member's own device. */
  readonly clientHost?: string | undefined;
  readonly grantId: string | undefined;
  readonly member: string | undefined;
  /** Where the request came from. */
  readonly address: string | undefined;
  readonly requestId: string | undefined;
  /** Who ended, suspended or resumed. */
  readonly by?: 'member' | 'app' | 'backend' | 'operator' | undefined;
  /** Why: a word of ours, or what who decided says of it. */
  readonly reason?: string | undefined;
  /** How many grants ended by it. */
  readonly ended?: number | undefined;
  /** The subject of the client certificate that a command came with. */
  readonly certificate?: string | undefined;
  /** The limit that was reached. */
  readonly limit?: string | undefined;
  /** What an app used for the member: a tool, or fields of the Account API's mutations. */
  readonly used?: { readonly kind: 'tool' | 'mutation'; readonly name: string } | undefined;
  /** How that went; `refused`: the token did not cover it. */
  readonly outcome?: 'success' | 'failure' | 'refused' | undefined;
  readonly milliseconds?: number | undefined;
}

/** What is recorded, and how it counts: an alert is for an operator to look at. */
const ACTIONS = {
  /** The login backend says who it is, for this app's request. */
  signed_in: 'success',
  sign_in_failed: 'failure',
  consent_given: 'success',
  consent_denied: 'success',
  client_registered: 'success',
  client_updated: 'success',
  client_deleted: 'success',
  token_issued: 'success',
  token_refreshed: 'success',
  /** An answer that was given before was given again to the same request. */
  token_answer_replayed: 'success',
  /** The client gave its token back (RFC 7009). */
  token_revoked: 'success',
  /** The member cut it off, on the page of connected apps. */
  app_disconnected: 'success',
  /** One grant ended with all its codes and tokens, by the decision of somebody. */
  grant_ended: 'success',
  member_revoked: 'success',
  member_suspended: 'success',
  member_resumed: 'success',
  client_revoked: 'success',
  /** The backend says that a member is gone, inactive or another than before: all that they let in has ended. */
  member_changed: 'success',
  /** A backend says that the session is over that an app acted with, or there is none: the connection has ended. */
  backend_session_over: 'failure',
  /** A command on the admin listener that nobody proved to be from the backend. */
  command_refused: 'alert',
  /** Somebody came with what had been used: everything issued on that grant is revoked (RFC 9700 §4.14.2, §4.5). */
  code_reuse: 'alert',
  refresh_token_reuse: 'alert',
  limit_tripped: 'failure',
  /** An app used a tool, or wanted to. What it sent and what it got are not told. */
  tool_called: 'success',
  /** An app changed something through the Account API, or wanted to. */
  mutation_called: 'success',
} as const satisfies Record<string, 'success' | 'failure' | 'alert'>;

export type AuditAction = keyof typeof ACTIONS;

/** Records what happened, once it is certain. */
export type Audit = (event: AuditEvent) => void;

/** Writes one log line per event, its fields named as in the Elastic Common Schema where that has a name. */
export function createAudit(log: Log): Audit {
  return (event) => {
    const counts = ACTIONS[event.action];
    const failed = counts !== 'success' || (event.outcome !== undefined && event.outcome !== 'success');
    const line = {
      'event.kind': counts === 'alert' ? 'alert' : 'event',
      'event.action': event.action,
      'event.outcome': failed ? 'failure' : 'success',
      'event.reason': event.outcome === 'refused' ? 'insufficient_scope' : event.reason,
      'event.duration': event.milliseconds === undefined ? undefined : Math.round(event.milliseconds * 1e6),
      'oauth.client_id': event.clientId,
      'oauth.client_host': event.clientHost ?? hostOf(event.clientId),
      'oauth.grant_id': event.grantId,
      'oauth.grants_ended': event.ended,
      'user.id': event.member,
      'source.address': event.address,
      'tls.client.subject': event.certificate,
      'http.request.id': event.requestId,
      'coursegate.by': event.by,
      'coursegate.limit': event.limit,
      'mcp.tool': event.used?.kind === 'tool' ? event.used.name : undefined,
      'graphql.mutation': event.used?.kind === 'mutation' ? event.used.name : undefined,
    };
    if (counts === 'alert') log.warn(line, 'audit');
    else log.info(line, 'audit');
  };
}

/** Of an app that is known by its document, whose id is an address. */
function hostOf(clientId: string | undefined): string | undefined {
  if (clientId === undefined || !clientId.startsWith('https://') || !URL.canParse(clientId)) return undefined;
  return new URL(clientId).host;
}
