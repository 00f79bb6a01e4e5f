import { redirectTarget } from '../../answer.ts';
import { createAsk } from '../../ask.ts';
import { checkEach, failure, pass } from '../../finding.ts';
import { Unavailable } from '../../unavailable.ts';
import { backendChecks } from '../check.ts';

/** Whether a gate runs with this configuration, and takes commands. */
export const GATE = [
  ...backendChecks(() => true, {
    async 'gate.running'({ admin }) {
      const answer = await admin.ask('/readyz').catch(() => undefined);
      if (answer === undefined) return failure(`no gate answers at ${admin.address}`);
      if (answer.status === 200) return pass(`${admin.address} is ready`);
      const said = answer.text.trim().slice(0, 200);
      return failure(
        `${admin.address}/readyz answers ${answer.status}: ${said}`,
        answer.status === 503
          ? 'Run `coursegate health --config FILE`: it names the check that fails.'
          : 'Another program listens at this address. Set listen.admin.port, or give the address with --admin.',
      );
    },
    async 'gate.pages'({ config: { origin, pages, site }, limits }) {
      const apart = pages.origin;
      if (apart === undefined)
        return pass(
          site === undefined
            ? 'at `origin`'
            : 'at the origin of the site. Recommended: pages.origin keeps its scripts away',
        );
      const ask = createAsk({ origin, ...limits });
      const askApart = createAsk({ origin: apart, ...limits });
      const headers = { accept: 'text/html' };
      const path = '/oauth/authorize?coursegate_doctor=1';
      return checkEach(
        `${apart} serves them, and nothing else`,
        ['/', '/.well-known/oauth-authorization-server', '/oauth/assets/pages.css', path],
        async (one) => {
          if (one === path) {
            const target = redirectTarget(await ask(origin + one, { headers }));
            return target?.href !== apart + one && failure(`${origin}/oauth/authorize does not redirect to ${apart}`);
          }
          const { status } = await askApart(apart + one, { headers });
          const wanted = one.startsWith('/oauth/') ? 200 : 404;
          return status !== wanted && failure(`${apart}${one} answers ${status} instead of ${wanted}`);
        },
      );
    },
  }),
  ...backendChecks(({ admin }) => admin.hmac !== undefined || admin.mtls !== undefined, {
    async 'gate.commands'({ admin }) {
      await admin.ask('/livez').catch(() => {
        throw new Unavailable('no gate answers at the admin address');
      });
      return admin.command('GET', '/keys').then(
        () => pass('a signed command was answered'),
        (thrown: unknown) => failure(thrown instanceof Error ? thrown.message : String(thrown)),
      );
    },
  }),
];
