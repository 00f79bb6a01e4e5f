import type { Exchange } from '../../http/exchange.ts';
import { ENDPOINTS } from '../endpoints.ts';
import type { InteractionOptions } from '../interactions/interactions.ts';
import { cancelForm, findClient, waitingAppOf } from '../interactions/pending.ts';
import type { SignInPurpose } from '../pages/sign-in.ts';

export interface PurposeOptions extends InteractionOptions {
  /** Where members of the course site are at home; undefined if there is no such address. */
  readonly home: string | undefined;
}

/** Tells what a sign-in continues with. The interaction is named by its unguessable id. */
export type PurposeOf = (exchange: Exchange, returnTo: string) => Promise<SignInPurpose>;

/**
 * A sign-in page is outside the path of the interaction's cookie, so it cannot tell whether this browser began the
 * interaction. Cancelling can: the form posts to the interaction, like that of the consent page.
 */
export function purposeOf(options: PurposeOptions): PurposeOf {
  const { provider, connector, home } = options;
  return async ({ request, provenance }, returnTo) => {
    if (returnTo.startsWith(ENDPOINTS.apps)) return { kind: 'connected-apps', back: home };
    const uid = INTERACTION.exec(returnTo)?.[1];
    const interaction = uid === undefined ? undefined : await provider().Interaction.find(uid);
    if (interaction === undefined) return { kind: 'unknown' };
    const [client, member] = await Promise.all([
      findClient(provider(), interaction),
      connector.identify(request.headers, provenance),
    ]);
    return {
      kind: 'app',
      app: waitingAppOf(options, { client, interaction }),
      cancel: cancelForm(options, interaction, member?.sub),
    };
  };
}

const INTERACTION = new RegExp(`^${ENDPOINTS.interaction}/([^/?]+)/return$`);
