import { ACTIONS } from '../../../actions/table.ts';
import { type Html, html } from '../../../http/html.ts';
import type { AuditAction } from '../../../operations/audit.ts';
import { type Subject, TRAIL_DAYS, type TrailLine } from '../../../operations/record/trail.ts';
import { pathOfApp, pathOfGrant, pathOfMember } from '../paths.ts';
import type { Sources } from '../sources.ts';

const LINES = 50;

/** The kept actions, in words. */
const SAID: Partial<Readonly<Record<AuditAction, string>>> = {
  signed_in: 'Signed in for an app',
  session_begun: 'Signed in',
  session_ended: 'Signed out',
  consent_given: 'App approved',
  consent_denied: 'App’s request cancelled',
  client_registered: 'App registered',
  client_updated: 'App changed its registration',
  token_revoked: 'App ended the connection',
  app_disconnected: 'Member disconnected the app',
  member_changed: 'Backend reported a change of the member',
  backend_session_over: 'Backend ended the member’s session',
  code_reuse: 'Code used twice: the connection was ended',
  refresh_token_reuse: 'Refresh token used twice: the connection was ended',
  config_reloaded: 'New configuration applied',
  routes_accepted: 'Proposed routes accepted',
  registration_closed: 'Registration closed',
  registration_opened: 'Registration opened',
  keys_rotated: 'Signing keys rotated',
  key_imported: 'Signing key imported',
  key_removed: 'Signing key removed',
  store_resealed: 'Store sealed again with the new secret',
  events_retried: 'Events sent again',
  assertions_tried: 'Assertions tried by coursegate doctor',
  operator_signed_in: 'Operator opened the console',
  operator_signed_out: 'Operator left the console',
  command_refused: 'Command refused',
  ...Object.fromEntries(ACTIONS.map(({ audit }) => audit).filter((audit) => audit !== undefined)),
};

/** The section with the newest audit lines about one member, app or grant. */
export async function trailSection({ trail, times }: Sources<'trail' | 'times'>, subject: Subject): Promise<Html> {
  const lines = await trail.of(subject, LINES);
  const item = (line: TrailLine) => html`<li>
<p>${times.moment(line.at)} <strong>${actionOf(line)}</strong>${isAlert(line) && html` <span class="badge bad">alert</span>`}</p>
<p class="muted">${aboutOf(line, subject).map((part) => html`<span>${part}</span> `)}</p>
</li>
`;
  return html`<section class="card"><h2>What happened</h2>
${
  lines.length === 0
    ? html`<p class="muted">No audit lines in the last ${TRAIL_DAYS} days.</p>`
    : html`<ol class="trail">
${lines.map(item)}</ol>
<p class="muted small">${lines.length === LINES && `The newest ${LINES}. `}Kept for ${TRAIL_DAYS} days. The audit log has every line.</p>`
}</section>`;
}

/** What a line is about, in words. */
export function actionOf({ action, outcome }: TrailLine): string {
  if (action === 'config_reloaded' && outcome === 'failure')
    return 'New configuration refused: the one before stays in use';
  return SAID[action] ?? action;
}

export function isAlert({ action }: TrailLine): boolean {
  return action === 'code_reuse' || action === 'refresh_token_reuse' || action === 'command_refused';
}

/** What else a line says, without the subject of the page. */
export function aboutOf(
  line: TrailLine,
  subject: Subject | Record<never, never>,
  nameOf = (member: string) => member,
): readonly Html[] {
  const { member, clientId, clientName, grantId, by, reason, ended, address, requestId } = line;
  const parts = [
    !('member' in subject) &&
      member !== undefined &&
      html`member <a href="${pathOfMember(member)}"><bdi>${nameOf(member)}</bdi></a>`,
    !('client' in subject) &&
      clientId !== undefined &&
      html`app <a href="${pathOfApp(clientId)}"><bdi>${clientName ?? clientId}</bdi></a>`,
    !('grant' in subject) && grantId !== undefined && html`<a href="${pathOfGrant(grantId)}">grant</a>`,
    by !== undefined && html`by the ${by}`,
    reason !== undefined && html`reason: <bdi>${reason}</bdi>`,
    ended !== undefined && ended > 0 && html`grants ended: ${ended}`,
    address !== undefined && html`from <bdi>${address}</bdi>`,
    requestId !== undefined && html`request <code>${requestId}</code>`,
  ];
  return parts.filter((part) => part !== false);
}
