import { failure, pass, problemsOr, warning } from '../../finding.ts';
import { gatewayChecks } from '../check.ts';
import { parseEcho } from '../echo.ts';
import { gotThrough, throughWithout } from '../got-through.ts';
import { BAD_TOKEN } from '../odd-requests.ts';

/** OPTIONS is left out: preflights carry no token (Fetch section 4.8). */
const METHODS = ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'TRACE', 'QUERY', 'get', 'DOCTOR'];

/** Whether some requests are not checked at all. */
export const OPEN = gatewayChecks(['carrier', 'refused'], {
  async 'open.methods'(gateway) {
    const requests = METHODS.map((method) => [`${method} without a token`, { method }] as const);
    return problemsOr(await throughWithout(gateway, requests), METHODS.join(', '));
  },
  async 'open.error'(gateway) {
    const odd = await gateway.oddRequests();
    const problems = odd.flatMap((one) => gotThrough(gateway, one, `a request with ${one.what}`) ?? []);
    return problemsOr(problems, 'overlong, malformed and repeated credentials');
  },
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
    const problems = requests.flatMap(([what, tried]) => {
      if (tried === undefined) return [];
      const status = tried.answers[0]?.status ?? 'no answer';
      if (tried.echoes.length > 0) return failure(`a request ${what} reached the backend`);
      return status === 503 ? [] : warning(`a request ${what} gets ${status} instead of 503`);
    });
    return problemsOr(problems, '503');
  },
});
