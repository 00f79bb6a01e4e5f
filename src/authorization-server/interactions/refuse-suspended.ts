import type { Member } from '../../login/connector.ts';
import { accountOf } from '../members.ts';
import { suspendedPage } from '../pages/login.ts';
import type { InteractionOptions } from './interaction-options.ts';
import { auditPending, cancelForm, type Pending, waitingAppOf } from './pending.ts';

/** Returns whether the backend has suspended the member, in which case the page that says so has been sent. */
export async function refuseSuspended(options: InteractionOptions, pending: Pending, member: Member): Promise<boolean> {
  if ((await options.suspensions.since(member.sub)) === undefined) return false;
  auditPending(options, pending, { action: 'sign_in_failed', member: member.sub, reason: 'suspended' });
  const view = {
    account: accountOf(member),
    app: waitingAppOf(options, pending),
    cancel: cancelForm(options, pending.interaction, member.sub),
  };
  options.pages.send(pending.exchange.response, 403, (words) => suspendedPage(words, view));
  return true;
}
