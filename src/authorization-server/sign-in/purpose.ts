import { asGatewayError } from '../../errors.ts';
import type { Exchange } from '../../http/exchange.ts';
import { ENDPOINTS } from '../endpoints.ts';
import type { InteractionParts } from '../interactions/interaction-parts.ts';
import { cancelForm, findClient, waitingAppOf } from '../interactions/pending.ts';
import type { SignInPurpose } from '../pages/sign-in.ts';

/** Tells what a sign-in continues with. The interaction is named by its unguessable id. */
export type PurposeOf = (exchange: Exchange, returnTo: string) => Promise<SignInPurpose>;

/**
 * A sign-in page is outside the path of the interaction's cookie, so it cannot tell whether this browser began the
 * interaction. Cancelling can: the form posts to the interaction, like that of the consent page.
 *
 * @param home - where members of the course site are at home; undefined if there is no such address
 */
export function purposeOf(parts: InteractionParts, home: string | undefined): PurposeOf {
  return async (exchange, returnTo) => {
    if (returnTo.startsWith(ENDPOINTS.approvals)) return { kind: 'unknown' };
    if (returnTo.startsWith(ENDPOINTS.apps)) return { kind: 'connected-apps', back: home };
    const uid = INTERACTION.exec(returnTo)?.[1];
    return uid === undefined ? { kind: 'unknown' } : appOf(parts, exchange, uid).catch(unlessStoreFails);
  };
}

const INTERACTION = new RegExp(`^${ENDPOINTS.interaction}/([^/?]+)/return$`);

async function appOf(parts: InteractionParts, { request, provenance }: Exchange, uid: string): Promise<SignInPurpose> {
  const { provider, connector } = parts;
  const interaction = await provider().Interaction.find(uid);
  if (interaction === undefined) return { kind: 'unknown' };
  const [client, member] = await Promise.all([
    findClient(provider(), interaction),
    connector.identify(request.headers, provenance),
  ]);
  return {
    kind: 'app',
    app: waitingAppOf(parts, { client, interaction }),
    cancel: cancelForm(parts, interaction, member?.sub),
  };
}

/** Without the store no one can sign in, but attempts are still counted and told apart from failures. */
function unlessStoreFails(thrown: unknown): SignInPurpose {
  if (asGatewayError(thrown).code !== 'store_unavailable') throw thrown;
  return { kind: 'unknown' };
}
