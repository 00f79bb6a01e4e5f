import type { Config } from '../../config/schema.ts';
import type { Audit } from '../../operations/audit.ts';
import type { Places } from '../../storage/places.ts';
import { deriveKey, deriveKeys, type Secrets } from '../../storage/seal.ts';
import { limitAttempts } from './attempt-limits.ts';
import { signInEvents } from './events.ts';
import { createSignIn, type SignIn, type SignInOptions } from './sign-in.ts';

/** Creates the sign-in from the configuration and the `login` connector built from it. */
export function configuredSignIn(
  config: Config['login'],
  {
    secrets,
    places,
    audit,
    ...parts
  }: Pick<SignInOptions, 'login' | 'origin' | 'store' | 'clock' | 'pages' | 'signedIn'> & {
    readonly secrets: Secrets;
    readonly places: Places;
    readonly audit: Audit;
  },
): SignIn {
  const { login, ...others } = parts;
  const limited =
    login.shape === 'credentials' && 'attempts' in config
      ? { ...login, check: limitAttempts(login.check, { ...config.attempts, places }) }
      : login;
  return createSignIn({
    ...others,
    login: limited,
    csrfKeys: deriveKeys(secrets, 'sign-in-csrf'),
    told: signInEvents(audit, parts.clock, deriveKey(secrets[0], 'audit-account')),
    lifetime: 'session' in config ? config.session : 0,
  });
}
