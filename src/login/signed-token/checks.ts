import { JWKS_TIMEOUT } from '../../config/constants.ts';
import { counted } from '../../http/amounts.ts';
import { backendChecks } from '../../operator/doctor/backend/check.ts';
import { causeOf } from '../../operator/doctor/backend/open-installation.ts';
import { failure, pass } from '../../operator/doctor/finding.ts';
import type { LoginConfig } from '../kinds.ts';
import { outboundFetch } from '../outbound-fetch.ts';

export const SIGNED_TOKEN = backendChecks(({ login }) => keysOf(login) !== undefined, {
  async 'signin.proxy'({ config: { login } }) {
    const jwks = keysOf(login) ?? '';
    const fetch = outboundFetch({ timeout: JWKS_TIMEOUT, loopback: new URL(jwks).protocol === 'http:' });
    const response = await fetch(jwks).catch((thrown: unknown) => causeOf(thrown));
    if (typeof response === 'string') return failure(`${jwks}: ${response}`);
    const keys = await response.json().then(
      (document: unknown) => (Object(document) as { keys?: unknown }).keys,
      () => undefined,
    );
    if (response.status === 200 && Array.isArray(keys) && keys.length > 0) return pass(counted(keys.length, 'key'));
    return failure(`${jwks} answers ${response.status} without keys`);
  },
});

/** The URL of the keys that sign the member's token; undefined if there is no token. */
function keysOf(login: LoginConfig): string | undefined {
  return 'jwt' in login ? login.jwt?.jwks : undefined;
}
