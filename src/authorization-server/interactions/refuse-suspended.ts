import type { Member } from '../../login/connector.ts';
import { accountOf } from '../members.ts';
import { suspendedPage } from '../pages/login.ts';
import type { InteractionParts } from './interaction-parts.ts';
import { auditPending, cancelForm, type Pending, waitingAppOf } from './pending.ts';

/** Returns whether the backend has suspended the member, in which case the page that says so has been sent. */
export async function refuseSuspended(parts: InteractionParts, pending: Pending, member: Member): Promise<boolean> {
  if ((await parts.suspensions.since(member.sub)) === undefined) return false;
  auditPending(parts, pending, { action: 'sign_in_failed', member: member.sub, reason: 'suspended' });
  const view = {
    account: accountOf(member),
    app: waitingAppOf(parts, pending),
    cancel: cancelForm(parts, pending.interaction, member.sub),
  };
  parts.pages.send(pending.exchange.response, 403, (words) => suspendedPage(words, view));
  return true;
}
