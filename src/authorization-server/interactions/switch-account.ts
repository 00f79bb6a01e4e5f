import type { Exchange } from '../../http/exchange.ts';
import { redirect } from '../pages/pages.ts';
import type { InteractionOptions } from './interactions.ts';
import { findPending, signInUrl } from './pending.ts';

/** Sends the member to the backend's sign-in page to sign in with another account. */
export async function switchAccount(options: InteractionOptions, exchange: Exchange): Promise<void> {
  const { interaction } = await findPending(options, exchange);
  redirect(exchange.response, signInUrl(options, interaction, { another: true }));
}
