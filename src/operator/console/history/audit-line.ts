import { ACTIONS } from '../../../actions/table.ts';
import { type HtmlValue, html } from '../../../http/html.ts';
import type { Subject, TrailLine } from '../../../operations/record/trail.ts';
import { appLink, memberLink } from '../kit/links.ts';
import { wordsOf } from '../kit/words.ts';
import { pathOfGrant } from '../paths.ts';

const textOf = wordsOf('history/audit-lines.yaml');
const ofOperators = new Map(ACTIONS.flatMap(({ audit }) => (audit === undefined ? [] : [audit])));

/** What a line is about, in words. */
export function actionOf({ action, outcome }: TrailLine): string {
  if (action === 'config_reloaded' && outcome === 'failure')
    return 'New configuration refused: the one before stays in use';
  return ofOperators.get(action) ?? textOf(action) ?? action;
}

export function isAlert({ action }: TrailLine): boolean {
  return action === 'code_reuse' || action === 'refresh_token_reuse' || action === 'command_refused';
}

/** What else a line says, without the subject of the page. */
export function aboutOf(line: TrailLine, subject: Subject | Record<never, never>, name?: string): readonly HtmlValue[] {
  const { member, clientId, clientName, grantId, by, reason, ended, tool, address, requestId } = line;
  return [
    !('member' in subject) && member && html`member ${memberLink({ id: member, name: name ?? member })}`,
    !('client' in subject) && clientId && html`app ${appLink({ id: clientId, name: clientName ?? clientId })}`,
    !('grant' in subject) && grantId !== undefined && html`<a href="${pathOfGrant(grantId)}">grant</a>`,
    by && html`by the ${by}`,
    tool !== undefined && html`tool <code>${tool}</code>`,
    reason !== undefined && html`reason: <bdi>${reason}</bdi>`,
    ended !== undefined && ended > 0 && html`grants ended: ${ended}`,
    address !== undefined && html`from <bdi>${address}</bdi>`,
    requestId !== undefined && html`request <code>${requestId}</code>`,
  ];
}
