import type { Exchange } from '../../http/exchange.ts';
import { redirect } from '../pages/pages.ts';
import { decide } from './decide.ts';
import { identifyMember } from './identify-member.ts';
import type { InteractionParts } from './interaction-parts.ts';
import { findPending, signInUrl } from './pending.ts';

/** The handlers of the steps between an authorization request and its answer. */
export type Interactions = ReturnType<typeof createInteractions>;

/**
 * The steps between an authorization request and its answer, one file each:
 *
 *   /oauth/authorize -> start --not signed in--> the backend's sign-in page -> returned
 *                         |                                                      |
 *                         +--signed in--------------> log in <----signed in------+--not signed in--> login page
 *                                                        |
 *                                          start (consent) -> consent page -> decide -> the app
 *
 * Every step asks the backend again who is signed in: the member who is signed in when the answer is given gives it.
 */
export function createInteractions(parts: InteractionParts) {
  return {
    start: (exchange: Exchange) => identifyMember(parts, exchange, 'first-visit'),
    /** The browser is back from the backend's sign-in page. */
    returned: (exchange: Exchange) => identifyMember(parts, exchange, 'back-from-sign-in'),
    async switchAccount(exchange: Exchange) {
      const pending = await findPending(parts, exchange);
      redirect(exchange.response, signInUrl(parts, pending, { another: true }));
    },
    /** The member has approved or denied. */
    decide: (exchange: Exchange) => decide(parts, exchange),
  };
}
