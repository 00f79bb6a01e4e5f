import { asGatewayError } from '../../errors.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Member } from '../../login/connector.ts';
import { unixSeconds } from '../../storage/store.ts';
import { loginPage } from '../pages/login.ts';
import { redirect } from '../pages/pages.ts';
import type { InteractionParts } from './interaction-parts.ts';
import { logIn } from './log-in.ts';
import { obstacleOf, refuseSuspended, showObstacle } from './obstacle.ts';
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
  if (interaction.prompt.name === 'consent' && interaction.session?.accountId === member.sub)
    return showConsent(parts, pending, member);
  await logIn(parts, pending, member);
}

/** The page for a member who came back from the sign-in page and is not signed in, or not in the way that was asked for. */
function showLogin(parts: InteractionParts, pending: Pending, member: Member | undefined): void {
  const reason = member === undefined ? 'not_signed_in' : 'not_as_asked_for';
  auditPending(parts, pending, { action: 'sign_in_failed', member: member?.sub, reason });
  const view = { ...stopView(parts, pending, member), signIn: signInUrl(parts, pending) };
  parts.pages.send(pending.exchange.response, 200, (words) => loginPage(words, view));
}
