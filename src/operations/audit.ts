import { isIP } from 'node:net';
import { currentRequest } from '../http/current-request.ts';
import { isWebView } from '../http/web-view.ts';
import type { Clock } from '../storage/store.ts';
import type { Log } from './log.ts';

/**
 * What happened, and to whom. Ids only: never a code, token, cookie or password, nor a part of one. Whoever records an
 * event does so before the answer is written, so that an answer that arrived has its line. What is left out of the
 * request it happened in is filled in from that.
 */
export interface AuditEvent {
  readonly action: AuditAction;
  readonly clientId: string | undefined;
  /** What the app calls itself: for people to read, and not to tell apps apart by. */
  readonly clientName?: string | undefined;
  /** Where the app gets its codes: a host name; `localhost` or a scheme for one on the member's own device. */
  readonly clientHost?: string | undefined;
  readonly grantId: string | undefined;
  readonly member: string | undefined;
  /** Stands for an account name that somebody typed, and that may be a password in the wrong box. */
  readonly accountHash?: string | undefined;
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
  /** The pattern of the route that was asked for. */
  readonly route?: string | undefined;
  /** How many more like it were not told of since the last line: a flood must not fill a disk. */
  readonly suppressed?: number | undefined;
  /** The `kid` of the key that is meant: that signs from now on, was brought or was ended. */
  readonly keyId?: string | undefined;
  /** What an app used for the member: a tool, or fields of the Account API's mutations. */
  readonly used?: { readonly kind: 'tool' | 'mutation'; readonly name: string } | undefined;
  /** How that went; `refused`: the token did not cover it. */
  readonly outcome?: 'success' | 'failure' | 'refused' | undefined;
  readonly milliseconds?: number | undefined;
}

interface Kind {
  /** An alert is for an operator to look at. */
  readonly counts: 'success' | 'failure' | 'alert';
  /** Of the Elastic Common Schema's allowed values: https://www.elastic.co/docs/reference/ecs */
  readonly category: readonly string[];
  readonly type: readonly string[];
}

const kind = (counts: Kind['counts'], category: string, type: string): Kind => ({
  counts,
  category: category.split(' '),
  type: type.split(' '),
});

/** What is recorded. */
const ACTIONS = {
  /** The login backend says who it is, for this app's request. */
  signed_in: kind('success', 'authentication', 'start'),
  sign_in_failed: kind('failure', 'authentication', 'start'),
  /** Somebody signed in on a page of ours, or elsewhere and came back: for all that they do in this browser. */
  session_begun: kind('success', 'session', 'start'),
  consent_given: kind('success', 'iam', 'creation'),
  consent_denied: kind('success', 'iam', 'info'),
  client_registered: kind('success', 'iam', 'creation'),
  client_updated: kind('success', 'iam', 'change'),
  client_deleted: kind('success', 'iam', 'deletion'),
  /** The app was sent a code, which it has a minute to redeem. */
  code_issued: kind('success', 'authentication', 'info'),
  token_issued: kind('success', 'session', 'start'),
  token_refreshed: kind('success', 'session', 'info'),
  /** An answer that was given before was given again to the same request. */
  token_answer_replayed: kind('success', 'session', 'info'),
  /** The client gave its token back (RFC 7009). */
  token_revoked: kind('success', 'session', 'end'),
  /** The member cut it off, on the page of connected apps. */
  app_disconnected: kind('success', 'iam session', 'deletion end'),
  /** One grant ended with all its codes and tokens, by the decision of somebody. */
  grant_ended: kind('success', 'iam session', 'deletion end'),
  member_revoked: kind('success', 'iam', 'change user'),
  member_suspended: kind('success', 'iam', 'change user'),
  member_resumed: kind('success', 'iam', 'change user'),
  client_revoked: kind('success', 'iam', 'change'),
  /** The operator has disabled an app: what it was granted has ended, and it is refused until it is enabled. */
  client_disabled: kind('success', 'iam', 'change'),
  client_enabled: kind('success', 'iam', 'change'),
  /** The operator brought a signing key of their own, or ended one at once. */
  key_imported: kind('success', 'configuration', 'change'),
  key_removed: kind('success', 'configuration', 'change'),
  /** The whole store was walked, and sealed with the first secret. */
  store_resealed: kind('success', 'configuration', 'change'),
  /** The backend says that a member is gone, inactive or another than before: all that they let in has ended. */
  member_changed: kind('success', 'iam', 'change user'),
  /** A backend says that the session is over that an app acted with, or there is none: the connection has ended. */
  backend_session_over: kind('failure', 'session', 'end'),
  /** The signing keys moved on by one: because it was time, or because somebody asked for it. */
  keys_rotated: kind('success', 'configuration', 'change'),
  /** A command on the admin listener that nobody proved to be from the backend. */
  command_refused: kind('alert', 'api intrusion_detection', 'denied'),
  /** Somebody came with what had been used: everything issued on that grant is revoked (RFC 9700 §4.14.2, §4.5). */
  code_reuse: kind('alert', 'intrusion_detection session', 'denied end'),
  refresh_token_reuse: kind('alert', 'intrusion_detection session', 'denied end'),
  limit_tripped: kind('failure', 'api', 'denied'),
  /** The gate refused what was shown at a protected resource: 401, or 403 for want of a scope. */
  access_denied: kind('failure', 'api', 'denied'),
  /** An app used a tool, or wanted to. What it sent and what it got are not told. */
  tool_called: kind('success', 'api', 'access'),
  /** An app changed something through the Account API, or wanted to. */
  mutation_called: kind('success', 'api', 'change'),
  /** Another configuration took the place of the one before, or was refused. */
  config_reloaded: kind('success', 'configuration', 'change'),
} as const satisfies Record<string, Kind>;

export type AuditAction = keyof typeof ACTIONS;

export const AUDIT_ACTIONS = Object.keys(ACTIONS) as readonly AuditAction[];

/** How an event ended, as ECS has it. */
export function outcomeOf({ action, outcome }: Pick<AuditEvent, 'action' | 'outcome'>): 'success' | 'failure' {
  const failed = ACTIONS[action].counts !== 'success' || (outcome !== undefined && outcome !== 'success');
  return failed ? 'failure' : 'success';
}

/** Records what happened, once it is certain. */
export type Audit = (event: AuditEvent) => void;

const LONGEST_USER_AGENT = 256;

/**
 * Writes one log line per event, its fields named as in the Elastic Common Schema where that has a name. Whatever the
 * log's level: who asked for errors only still wants to know who let whom in.
 */
export function createAudit(parent: Log, clock: Clock): Audit {
  const log = parent.level === 'silent' ? parent : parent.child({}, { level: 'info' });
  return (event) => {
    const { counts, category, type } = ACTIONS[event.action];
    const current = currentRequest();
    const address = event.address ?? current?.provenance.clientAddress;
    const userAgent = current?.userAgent.slice(0, LONGEST_USER_AGENT);
    const line = {
      '@timestamp': new Date(clock()).toISOString(),
      'event.kind': counts === 'alert' ? 'alert' : 'event',
      'event.category': category,
      'event.type': type,
      'event.action': event.action,
      'event.outcome': outcomeOf(event),
      'event.reason': event.outcome === 'refused' ? 'insufficient_scope' : event.reason,
      'event.duration': event.milliseconds === undefined ? undefined : Math.round(event.milliseconds * 1e6),
      'oauth.client_id': event.clientId,
      'oauth.client_name': event.clientName,
      'oauth.client_host': event.clientHost ?? hostOf(event.clientId),
      'oauth.grant_id': event.grantId,
      'oauth.grants_ended': event.ended,
      'user.id': event.member,
      'user.hash': event.accountHash,
      'source.address': address,
      'source.ip': address !== undefined && isIP(address) !== 0 ? address : undefined,
      'user_agent.original': userAgent === '' ? undefined : userAgent,
      'tls.client.subject': event.certificate,
      'http.request.id': event.requestId ?? current?.provenance.requestId,
      'trace.id': current?.provenance.traceId(),
      'coursegate.by': event.by,
      'coursegate.key_id': event.keyId,
      'coursegate.limit': event.limit,
      'coursegate.route': event.route,
      'coursegate.suppressed': event.suppressed,
      'coursegate.web_view': current !== undefined && isWebView(current.userAgent) ? true : undefined,
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
