import { isIP } from 'node:net';
import { currentRequest } from '../http/current-request.ts';
import type { Exchange } from '../http/exchange.ts';
import { isWebView } from '../http/web-view.ts';
import type { Clock } from '../storage/store.ts';
import type { Log } from './log.ts';

/**
 * What happened, and to whom. An event holds ids only, never a code, token, cookie or password, nor a part of one.
 * Record it before writing the response, so that every response that arrives has its line. Address and request id
 * default to those of the current request.
 */
export interface AuditEvent {
  readonly action: AuditAction;
  readonly clientId?: string | undefined;
  /** The name the app gives itself: for people to read, not to tell apps apart. */
  readonly clientName?: string | undefined;
  /** Where the app receives its codes: a host name, `localhost`, or a scheme for an app on the member's device. */
  readonly clientHost?: string | undefined;
  readonly grantId?: string | undefined;
  readonly member?: string | undefined;
  /** Hash of an account name that was typed in: it may be a password typed into the wrong field. */
  readonly accountHash?: string | undefined;
  /** The client's network address. */
  readonly address?: string | undefined;
  readonly requestId?: string | undefined;
  /** Who ended, suspended or resumed it. */
  readonly by?: 'member' | 'app' | 'backend' | 'operator' | undefined;
  /** A reason code of ours, or the text given with the command. */
  readonly reason?: string | undefined;
  /** Number of grants that this ended. */
  readonly ended?: number | undefined;
  /** Subject of the client certificate that a command was authenticated with. */
  readonly certificate?: string | undefined;
  /** The limit that was exceeded. */
  readonly limit?: string | undefined;
  /** Pattern of the requested route. */
  readonly route?: string | undefined;
  /** Similar events not logged since the last line, so that a flood cannot fill the disk. */
  readonly suppressed?: number | undefined;
  /** `kid` of the key that now signs, was imported or was removed. */
  readonly keyId?: string | undefined;
  /** What an app used for the member: a tool, or the fields of Account API mutations. */
  readonly used?: { readonly kind: 'tool' | 'mutation'; readonly name: string } | undefined;
  /** How the use ended; `refused` means that the token's scopes did not cover it, or that the member lacks a role. */
  readonly outcome?: 'success' | 'failure' | 'refused' | undefined;
  readonly milliseconds?: number | undefined;
  /** The digest of the call that a member is asked to approve. */
  readonly approval?: string | undefined;
}

interface Kind {
  /** An alert needs an operator's attention. */
  readonly counts: 'success' | 'failure' | 'alert';
  /** Allowed values of the Elastic Common Schema: https://www.elastic.co/docs/reference/ecs */
  readonly category: readonly string[];
  readonly type: readonly string[];
  /**
   * With what the console shows it for 30 days: the member, app or grant that it is about, or the gate itself. Not the
   * actions of every request or refresh, nor refusals, which may be many and say nothing about a connection.
   */
  readonly shownWith: 'subject' | 'gate' | undefined;
}

const kind = (counts: Kind['counts'], category: string, type: string, shownWith?: Kind['shownWith']): Kind => ({
  counts,
  category: category.split(' '),
  type: type.split(' '),
  shownWith,
});

/** The recorded actions. */
const ACTIONS = {
  /** The login backend identified the member, for this app's request. */
  signed_in: kind('success', 'authentication', 'start', 'subject'),
  sign_in_failed: kind('failure', 'authentication', 'start'),
  /** A browser session began: the member signed in on our page, or elsewhere and was sent back. */
  session_begun: kind('success', 'session', 'start', 'subject'),
  /** The member signed out on our page. */
  session_ended: kind('success', 'session', 'end', 'subject'),
  consent_given: kind('success', 'iam', 'creation', 'subject'),
  consent_denied: kind('success', 'iam', 'info', 'subject'),
  client_registered: kind('success', 'iam', 'creation', 'subject'),
  client_updated: kind('success', 'iam', 'change', 'subject'),
  client_deleted: kind('success', 'iam', 'deletion', 'subject'),
  /** The app received a code, which it has one minute to redeem. */
  code_issued: kind('success', 'authentication', 'info'),
  token_issued: kind('success', 'session', 'start'),
  token_refreshed: kind('success', 'session', 'info'),
  /** A repeated refresh received the response that was given before. */
  token_answer_replayed: kind('success', 'session', 'info'),
  /** The request that redeemed a code was repeated within the replay window: refused, and nothing ended. */
  code_repeated: kind('failure', 'session', 'denied'),
  /** The client revoked its own token (RFC 7009). */
  token_revoked: kind('success', 'session', 'end', 'subject'),
  /** The member disconnected the app on the page of connected apps. */
  app_disconnected: kind('success', 'iam session', 'deletion end', 'subject'),
  /** One grant was ended by command, with all its codes and tokens. */
  grant_ended: kind('success', 'iam session', 'deletion end', 'subject'),
  member_revoked: kind('success', 'iam', 'change user', 'subject'),
  member_suspended: kind('success', 'iam', 'change user', 'subject'),
  member_resumed: kind('success', 'iam', 'change user', 'subject'),
  client_revoked: kind('success', 'iam', 'change', 'subject'),
  /** The operator disabled an app: its grants have ended, and it is refused until it is enabled again. */
  client_disabled: kind('success', 'iam', 'change', 'subject'),
  client_enabled: kind('success', 'iam', 'change', 'subject'),
  /** The operator closed registration, or opened it again: new apps are refused while it is closed. */
  registration_closed: kind('success', 'configuration', 'change', 'gate'),
  registration_opened: kind('success', 'configuration', 'change', 'gate'),
  /** The operator imported a signing key, or removed one immediately. */
  key_imported: kind('success', 'configuration', 'change', 'gate'),
  key_removed: kind('success', 'configuration', 'change', 'gate'),
  /** Every record of the store was sealed again, with the first secret. */
  store_resealed: kind('success', 'configuration', 'change', 'gate'),
  /** The operator exported one school of many, which is not served here since, had it served again, or imported or removed it. */
  school_exported: kind('success', 'configuration', 'change', 'gate'),
  school_resumed: kind('success', 'configuration', 'change', 'gate'),
  school_imported: kind('success', 'configuration', 'change', 'gate'),
  school_removed: kind('success', 'configuration', 'deletion', 'gate'),
  /** The backend reported that a member is gone, inactive or changed: all grants of the member have ended. */
  member_changed: kind('success', 'iam', 'change user', 'subject'),
  /** A backend reported that the session an app acted with is over or missing: the connection has ended. */
  backend_session_over: kind('failure', 'session', 'end', 'subject'),
  /** The operator tried how backends treat assertions, as this member if one is named (`coursegate doctor --member`). */
  assertions_tried: kind('success', 'api', 'access', 'gate'),
  /** The signing keys were rotated, on schedule or by command. */
  keys_rotated: kind('success', 'configuration', 'change', 'gate'),
  /** The operator opened or left the console, by a link, the secret or a client certificate. */
  operator_signed_in: kind('success', 'session authentication', 'start', 'gate'),
  operator_signed_out: kind('success', 'session', 'end', 'gate'),
  /** A command on the admin listener that was not authenticated as the backend's. */
  command_refused: kind('alert', 'api intrusion_detection', 'denied', 'gate'),
  /**
   * A used code or refresh token was presented again: everything issued on that grant is revoked (RFC 9700 sections
   * 4.14.2 and 4.5).
   */
  code_reuse: kind('alert', 'intrusion_detection session', 'denied end', 'subject'),
  refresh_token_reuse: kind('alert', 'intrusion_detection session', 'denied end', 'subject'),
  /** A refresh token that is newer than its record: the store was restored to an earlier state. Refused, nothing ended. */
  refresh_token_ahead: kind('failure', 'session', 'denied', 'subject'),
  limit_tripped: kind('failure', 'api', 'denied'),
  /** The gate refused the credentials for a protected resource: 401, or 403 for a missing scope. */
  access_denied: kind('failure', 'api', 'denied'),
  /** An app called a tool, or tried to. Arguments and results are not recorded. */
  tool_called: kind('success', 'api', 'access'),
  /** An upstream's tool is not defined as the operator has approved. Its calls are refused. */
  tool_changed: kind('alert', 'configuration', 'change', 'gate'),
  /** An app sent a call that its member approves first: it waits. */
  approval_requested: kind('success', 'api', 'info'),
  /** The member approved or declined that call. */
  approval_given: kind('success', 'api', 'allowed', 'subject'),
  approval_declined: kind('success', 'api', 'denied', 'subject'),
  /** Nobody decided in time (`undecided`), or the app did not make the approved call in time (`unused`). */
  approval_expired: kind('failure', 'api', 'info', 'subject'),
  /** The app made the call, which used the approval up. */
  approval_used: kind('success', 'api', 'access', 'subject'),
  /** An app changed something through the Account API, or tried to. */
  mutation_called: kind('success', 'api', 'change'),
  /** The operator accepted the routes that observe mode proposes: they are in the configuration file. */
  routes_accepted: kind('success', 'configuration', 'change', 'gate'),
  /** The operator had the pending events sent again. */
  events_retried: kind('success', 'api', 'change', 'gate'),
  /** A new configuration was applied or refused. */
  config_reloaded: kind('success', 'configuration', 'change', 'gate'),
} as const satisfies Record<string, Kind>;

export type AuditAction = keyof typeof ACTIONS;

export const AUDIT_ACTIONS = Object.keys(ACTIONS) as readonly AuditAction[];

/** The outcome of an event in ECS terms. */
export function outcomeOf({ action, outcome }: Pick<AuditEvent, 'action' | 'outcome'>): 'success' | 'failure' {
  const failed = ACTIONS[action].counts !== 'success' || (outcome !== undefined && outcome !== 'success');
  return failed ? 'failure' : 'success';
}

export const shownWith = (action: AuditAction): Kind['shownWith'] => ACTIONS[action].shownWith;

/** Records an event, once it is certain to have happened. */
export type Audit = (event: AuditEvent) => void;

const LONGEST_USER_AGENT = 256;

/**
 * Writes one log line per event, with ECS field names where ECS has one. Audit lines are written even at log levels
 * above `info`, unless the log is silent: an operator who logs only errors still needs to know who gave access to
 * whom.
 */
export function createAudit(parent: Log, clock: Clock): Audit {
  // The names below are fixed and none is redacted, so the search for such names is left out: it was most of the cost.
  const log = parent.level === 'silent' ? parent : parent.child({}, { level: 'info', redact: [] });
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
      'event.reason': event.reason ?? (event.outcome === 'refused' ? 'insufficient_scope' : undefined),
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
      'coursegate.approval': event.approval,
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

/** Audits what an app uses for a member in one request, with the time since it began. */
export function usageAudit(audit: Audit, { principal }: Pick<Exchange, 'principal'>, kind: 'tool' | 'mutation') {
  const began = performance.now();
  const member = principal.kind === 'member' ? principal : undefined;
  return (name: string, outcome: AuditEvent['outcome'], reason?: 'approval' | 'repeated' | 'role'): void =>
    audit({
      action: kind === 'tool' ? 'tool_called' : 'mutation_called',
      used: { kind, name },
      outcome,
      reason,
      milliseconds: performance.now() - began,
      clientId: member?.clientId,
      grantId: member?.grantId,
      member: member?.sub,
    });
}

/** The host of an app that is identified by the URL of its metadata document. */
function hostOf(clientId: string | undefined): string | undefined {
  if (clientId === undefined || !clientId.startsWith('https://') || !URL.canParse(clientId)) return undefined;
  return new URL(clientId).host;
}
