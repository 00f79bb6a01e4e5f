import { pagesOrigin } from '../../config/pages.ts';
import { GatewayError } from '../../errors.ts';
import { beginSignIn } from '../../operator/doctor/backend/begin-sign-in.ts';
import { loginChecks } from '../../operator/doctor/backend/check.ts';
import type { Installation } from '../../operator/doctor/backend/installation.ts';
import { causeOf } from '../../operator/doctor/backend/open-installation.ts';
import { checkEach, failure } from '../../operator/doctor/finding.ts';
import { Unavailable } from '../../operator/doctor/unavailable.ts';
import type { SignInProvider } from '../connector.ts';

export const OIDC = loginChecks('oidc', {
  'signin.providers': (installation) =>
    checkEach('metadata and sign-in page', providersOf(installation), async (provider) => {
      const { url, callback } = await beginSignIn(provider, pagesOrigin(installation.config)).catch(
        (thrown: unknown) => ({
          url: causeOf(thrown),
          callback: undefined,
        }),
      );
      if (typeof url === 'string') return failure(`${provider.id}: ${url}`);
      const answer = await installation.pages.get(url);
      if (answer.status < 400) return undefined;
      return failure(`${provider.id}: its sign-in page answers ${answer.status} to our client, with ${callback?.href}`);
    }),
  'signin.client': (installation) =>
    checkEach('an invented code is refused, and nothing else', providersOf(installation), async (provider) => {
      const { callback, kept, state } = await beginSignIn(provider, pagesOrigin(installation.config)).catch(() => {
        throw new Unavailable('the metadata of a provider is not available');
      });
      const query = new URLSearchParams({
        code: 'coursegate-doctor',
        state,
        iss: installation.config.login.providers.find(({ id }) => id === provider.id)?.issuer ?? '',
      });
      const thrown = await provider.finish({ query, callback, kept }).catch((reason: unknown) => reason);
      if (thrown instanceof GatewayError && thrown.code === 'invalid_request') return undefined;
      return failure(`${provider.id}: ${thrown instanceof Error ? causeOf(thrown) : 'it accepts an invented code'}`);
    }),
});

function providersOf({ login }: Pick<Installation, 'login'>): readonly SignInProvider[] {
  return login.shape === 'redirect' ? login.providers : [];
}
