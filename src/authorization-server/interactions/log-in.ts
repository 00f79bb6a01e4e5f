import type { Member } from '../../login/connector.ts';
import { PageFailure } from '../pages/page-failure.ts';
import { finish } from './finish.ts';
import type { InteractionParts } from './interaction-parts.ts';
import { auditPending, type Pending } from './pending.ts';

/** Completes the login step. A session of another member is ended first, so that no member continues as another one. */
export async function logIn(parts: InteractionParts, pending: Pending, member: Member): Promise<void> {
  const { interaction } = pending;
  const { session } = interaction;
  if (session !== undefined && session.accountId !== member.sub) {
    await (await parts.provider().Session.findByUid(session.uid))?.destroy();
    delete (interaction as { session?: unknown }).session;
    await interaction.persist();
  }
  if (!(await parts.standings.maySignIn(member))) {
    auditPending(parts, pending, { action: 'sign_in_failed', member: member.sub, reason: 'account_closed' });
    throw new PageFailure('forbidden', 'failure.account_closed');
  }
  await parts.members.save(member);
  const login = {
    accountId: member.sub,
    remember: false,
    // Without a value, oidc-provider would take the current time, although the member may have signed in long ago.
    ts: (member.authTime ?? null) as number,
    ...(member.acr === undefined ? {} : { acr: member.acr }),
  };
  // The member chooses among accounts on the consent page, so prompt=select_account asks for no step of its own.
  await finish(parts, pending, { login, select_account: {} }, { action: 'signed_in', member: member.sub });
}
