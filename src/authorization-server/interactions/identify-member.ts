import { asGatewayError } from '../../errors.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Member } from '../../login/connector.ts';
import { unixSeconds } from '../../storage/store.ts';
import { loginPage } from '../pages/login.ts';
import { PageFailure } from '../pages/page-failure.ts';
import { redirect } from '../pages/pages.ts';
import { finish } from './finish.ts';
import type { InteractionParts } from './interaction-parts.ts';
import { obstacleOf, refuseSuspended, refuseWithoutRole, showObstacle } from './obstacle.ts';
import { auditPending, findPending, notePending, openWishesOf, type Pending, signInUrl, stopView } from './pending.ts';
import { showConsent } from './show-consent.ts';
import { asksForTime, mustSignIn, type VisitKind } from './sign-in-wishes.ts';

/** Asks the backend who is signed in, and goes on to its sign-in page, to the login step or to the consent page. */
export async function identifyMember(parts: InteractionParts, exchange: Exchange, step: VisitKind): Promise<void> {
  const pending = await findPending(parts, exchange);
  const { interaction } = pending;
  const member = await parts.connector
    .identify(exchange.request.headers, exchange.provenance)
    .catch((thrown: unknown) => {
      auditPending(parts, pending, { action: 'sign_in_failed', reason: asGatewayError(thrown).code });
      throw thrown;
    });
  const wishes = openWishesOf(pending, member);
  const signInNeeded = member === undefined || mustSignIn(wishes, member, step, unixSeconds(parts.clock));
  const signInHelps = parts.connector.knowsAuthTime || !asksForTime(wishes);
  if (step === 'first-visit' && signInNeeded && signInHelps) {
    notePending(pending, 'sign-in', { outcome: 'sent' });
    // Saved again, it counts as a sign-in in progress, which strangers' requests do not evict (adapter.ts).
    if (interaction.session === undefined) await interaction.persist();
    return redirect(exchange.response, signInUrl(parts, pending));
  }
  const obstacle = obstacleOf(parts, pending, member);
  if (obstacle !== undefined) return showObstacle(parts, pending, member, obstacle);
  if (member === undefined && step === 'back-from-sign-in')
    parts.connector.cameBackAnonymous?.(exchange.request.headers);
  if (member === undefined || signInNeeded) return showLogin(parts, pending, member);
  if (await refuseSuspended(parts, pending, member)) return;
  if (interaction.prompt.name === 'consent' && interaction.session?.accountId === member.sub) {
    if (await refuseWithoutRole(parts, pending, member)) return;
    return showConsent(parts, pending, member);
  }
  await logIn(parts, pending, member);
}

/** The page for a member who came back from the sign-in page and is not signed in, or not in the way that was asked for. */
function showLogin(parts: InteractionParts, pending: Pending, member: Member | undefined): void {
  const reason = member === undefined ? 'not_signed_in' : 'not_as_asked_for';
  auditPending(parts, pending, { action: 'sign_in_failed', member: member?.sub, reason });
  const view = { ...stopView(parts, pending, member), signIn: signInUrl(parts, pending) };
  parts.pages.send(pending.exchange.response, 200, (words) => loginPage(words, view));
}

/** Completes the login step. A session of another member is ended first, so that no member continues as another one. */
async function logIn(parts: InteractionParts, pending: Pending, member: Member): Promise<void> {
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
