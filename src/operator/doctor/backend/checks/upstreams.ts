import { clockSkew, redirectTarget, type SiteAnswer } from '../../answer.ts';
import { checkEach, failure, type Verdict, warning } from '../../finding.ts';
import { NoAnswer, orNone, Unavailable } from '../../unavailable.ts';
import { backendChecks } from '../check.ts';
import type { Installation } from '../installation.ts';

/** Seconds. The drop-ins allow that much; an assertion lives for a minute, of which at least half is left. */
const TOLERATED = 5;
const BROKEN = 30;

/** Whether the services behind the gate answer it. */
export const UPSTREAMS = backendChecks(() => true, {
  'upstream.reachable': ({ config, send }) =>
    checkEach(Object.keys(config.upstreams).join(', '), Object.keys(config.upstreams), async (name) => {
      try {
        const answer = await send(rootOf(name));
        return answer.status >= 500
          ? warning(`${name}: ${answer.url} answers ${answer.status}`, BROKEN_PAGE)
          : undefined;
      } catch (thrown) {
        if (thrown instanceof NoAnswer) return failure(`${name}: ${thrown.message}`);
        throw thrown;
      }
    }),
  'upstream.host': (installation) =>
    checkEach('none refuses it or redirects elsewhere', Object.keys(installation.config.upstreams), async (name) => {
      const answer = await orNone(orNone(installation.send(rootOf(name))), Unavailable);
      return answer === undefined ? undefined : checkHost(name, answer, installation);
    }),
  async 'upstream.clock'({ config, send, now }) {
    let compared = 0;
    const verdicts = await checkEach(
      () => `within ${TOLERATED} seconds`,
      Object.keys(config.upstreams),
      async (name) => {
        const before = now();
        const answer = await orNone(orNone(send(rootOf(name))), Unavailable);
        const skew = answer && clockSkew(answer, before, now());
        if (skew === undefined) return undefined;
        compared += 1;
        const seen = `${name} is ${skew.seconds} seconds ${skew.side} this machine`;
        return skew.seconds > BROKEN ? failure(seen) : skew.seconds > TOLERATED && warning(seen);
      },
    );
    if (compared === 0) throw new Unavailable('no upstream sends a Date');
    return verdicts;
  },
});

const BROKEN_PAGE = 'Look into the log of the backend. If its root is meant to fail, ignore this.';

const rootOf = (upstream: string) => ({ upstream, method: 'GET' as const, path: '/' });

function checkHost(name: string, answer: SiteAnswer, { config }: Installation): Verdict | undefined {
  const { status, url } = answer;
  const isPublic = (config.upstreams[name]?.host ?? (url.startsWith('https:') ? 'upstream' : 'public')) === 'public';
  const host = new URL(isPublic ? config.origin : url).host;
  if (status === 421 || (status === 400 && /host/i.test(answer.text.slice(0, 5000))))
    return failure(`${name}: ${url} answers ${status} to Host: ${host}`);
  const target = redirectTarget(answer);
  if (target === undefined) return undefined;
  const to = `${name}: ${url} redirects requests for ${host} to ${target.href}`;
  if (target.hostname !== new URL(`http://${host}`).hostname && target.hostname !== new URL(url).hostname)
    return target.pathname === '/' ? failure(to) : undefined;
  const secure = config.origin.startsWith('https:') && target.protocol === 'https:';
  if (isPublic && secure && target.pathname === '/' && target.search === '')
    return failure(
      `${to}, the address that was requested: browsers are redirected forever`,
      "Tell the backend to trust X-Forwarded-Proto (SECURE_PROXY_SSL_HEADER, $_SERVER['HTTPS'], sslproxy).",
    );
  return undefined;
}
