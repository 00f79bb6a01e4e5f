import { randomBytes } from 'node:crypto';
import type { SignInProvider } from '../../../login/connector.ts';

const NO_WISH = { loginHint: undefined, uiLocales: undefined };

/** Begins a sign-in that nobody will finish. `origin` is that of the gate's pages. */
export async function beginSignIn(provider: SignInProvider, origin: string) {
  const state = randomBytes(16).toString('hex');
  const callback = new URL(`/oauth/sign-in/callback/${provider.id}`, origin);
  return { ...(await provider.begin({ state, callback, wish: NO_WISH })), callback, state };
}
