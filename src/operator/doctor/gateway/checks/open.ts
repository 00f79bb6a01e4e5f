import { failure, pass, type Verdict, warning } from '../../finding.ts';
import { type GatewayCheck, gatewayChecks } from '../check.ts';
import { gotThrough, throughWithout } from '../got-through.ts';
import { BAD_TOKEN, oddRequests } from '../odd-requests.ts';

/** OPTIONS is left out: preflights carry no token (Fetch section 4.8). */
const METHODS = ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'TRACE', 'QUERY', 'get', 'DOCTOR'];

/** Whether some requests are not judged at all. */
export const OPEN: readonly GatewayCheck[] = gatewayChecks(['echo', 'refused'], {
  'open.methods': {
    title: 'Every method needs a token',
    reference: 'RFC 9110 section 9; CWE-650',
    fix: 'Ask the auth service about every method: no condition on GET or POST around it. Frameworks serve HEAD, and often unknown methods, like GET.',
    run: async (gateway) => {
      const problems = await throughWithout(
        gateway,
        METHODS.map((method) => [`${method} without a token`, { method }] as const),
      );
      return problems.length > 0 ? problems : pass(METHODS.join(', '));
    },
  },
  'open.error': {
    title: 'A request that the auth service fails at is refused',
    reference: 'GHSA-9g5w-hqr3-w2ph (Envoy)',
    fix: 'Fail closed: no "error_page 500 = @backend" (nginx), no "failure_mode_allow" (Envoy), no "allow_degradation" (APISIX), and no default that admits. Anyone who can make the service fail gets in.',
    run: async (gateway) => {
      const problems: Verdict[] = [];
      for (const one of await oddRequests(gateway)) {
        const verdict = gotThrough(gateway, one, `a request with ${one.what}`);
        if (verdict !== undefined) problems.push(verdict);
      }
      return problems.length > 0 ? problems : pass('overlong, malformed and repeated credentials');
    },
  },
  'open.down': {
    title: 'Without the auth service, nothing gets through',
    reference: 'RFC 9110 section 15.6.4',
    fix: 'Answer 503 with Retry-After while the auth service does not answer, and never forward the request: an outage must not open the path.',
    run: () => ({ level: 'skipped', seen: 'stop the auth service, and run this again with --auth-down' }),
  },
});

/** The only check while the auth service is stopped, in place of the one above. */
export const AUTH_DOWN: readonly GatewayCheck[] = OPEN.filter(({ id }) => id === 'open.down').map(
  (check): GatewayCheck => ({
    ...check,
    needs: [],
    run: async (gateway, { anonymous, withToken }) => {
      const requests = [
        ['without a token', anonymous],
        ['with the token', withToken],
        ['with an invalid token', await gateway.attempt({ authorization: BAD_TOKEN })],
      ] as const;
      const problems: Verdict[] = [];
      for (const [what, tried] of requests) {
        if (tried === undefined) continue;
        const status = tried.answers[0]?.status ?? 'no answer';
        if (tried.echoes.length > 0) problems.push(failure(`a request ${what} reached the backend`));
        else if (status !== 503) problems.push(warning(`a request ${what} gets ${status} instead of 503`));
      }
      return problems.length > 0 ? problems : pass('503');
    },
  }),
);
