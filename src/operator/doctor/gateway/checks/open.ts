import { checkEach, failure, pass, warning } from '../../finding.ts';
import { parseEcho } from '../echo.ts';
import { gatewayChecks } from '../facts.ts';
import { gotThrough, noneGetsThrough } from '../got-through.ts';
import { BAD_TOKEN } from '../odd-requests.ts';

/** OPTIONS is left out: preflights carry no token (Fetch section 4.8). */
const METHODS = ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'TRACE', 'QUERY', 'get', 'DOCTOR'];

/** Whether some requests are not checked at all. */
export const OPEN = gatewayChecks(['carrier', 'refused', 'oddRequests'], {
  'open.methods': (gateway) =>
    noneGetsThrough(
      gateway,
      METHODS.join(', '),
      METHODS.map((method) => [`${method} without a token`, { method }] as const),
    ),
  'open.error': async ({ oddRequests, ...gateway }) =>
    checkEach('overlong, malformed and repeated credentials', await oddRequests(), (one) =>
      gotThrough(gateway, one, `a request with ${one.what}`),
    ),
  'open.down': () => ({ level: 'skipped', seen: 'stop the auth service, and run this again with --auth-down' }),
});

/** Whether one client gets what another one was given. */
export const CACHED = gatewayChecks(['admitted', 'refused'], {
  async 'open.cached'({ bearer, send }) {
    const { id } = await send({ authorization: bearer });
    const [answer] = (await send({ id })).answers;
    if (answer === undefined || parseEcho(answer.text) === undefined) return pass('the same request, with and without');
    return failure('after a request with the token, the same one without it gets the answer of the backend');
  },
});

/** The only check while the auth service is stopped, in place of the one above. */
export const AUTH_DOWN = gatewayChecks([], {
  async 'open.down'({ anonymous, withToken, send }) {
    const requests = [
      ['without a token', anonymous],
      ['with the token', withToken],
      ['with an invalid token', await send({ authorization: BAD_TOKEN })],
    ] as const;
    return checkEach('503', requests, ([what, tried]) => {
      if (tried === undefined) return undefined;
      const status = tried.answers[0]?.status ?? 'no answer';
      if (tried.echoes.length > 0) return failure(`a request ${what} reached the backend`);
      return status !== 503 && warning(`a request ${what} gets ${status} instead of 503`);
    });
  },
});
