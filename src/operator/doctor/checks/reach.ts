import { isLoopback } from '../../connect/oauth/transport.ts';
import { clockSkew, field, isRedirect, jsonObject, redirectTarget, where } from '../answer.ts';
import { checkEach, failure, pass, warning } from '../finding.ts';
import { checks } from '../site.ts';
import { orNone, Unavailable } from '../unavailable.ts';

/** A name that can never exist (RFC 6761 section 6.4). */
const STRANGE_HOST = 'coursegate-doctor.invalid';
/** Seconds by which clocks may differ before proofs and assertions are refused as expired. */
const SKEW = 60;
const DAY = 86_400_000;
/** Days before its expiry by which a certificate should have been renewed. */
const SOON = 14;

/** Whether clients can reach the site securely. */
export const REACH = [
  ...checks([], {
    'reach.https'({ origin }) {
      const { protocol, hostname } = new URL(origin);
      if (protocol === 'https:') return pass(origin);
      if (isLoopback(hostname)) return pass(`${origin}: plain http, but only on this machine`);
      return failure(`${origin} is plain http: tokens can be intercepted`);
    },
    async 'reach.http-redirect'({ plainOrigin, origin, ask }) {
      if (plainOrigin === undefined) throw new Unavailable('this address has no plain http counterpart');
      const answer = await orNone(ask(`${plainOrigin}/`));
      if (answer === undefined) return pass('plain http is not served');
      const target = redirectTarget(answer);
      if (target?.protocol === 'https:' && target.hostname === new URL(origin).hostname)
        return pass(`${answer.status} to ${target.origin}`);
      if (target !== undefined) return warning(`${plainOrigin}/ redirects to ${target.origin}`);
      if (answer.status >= 400) return pass(`plain http gets ${answer.status}`);
      return warning(`${plainOrigin}/ answers ${answer.status} without a redirect`);
    },
    async 'reach.hsts'({ origin, ask }) {
      requireHttps(origin);
      const header = field(await ask(`${origin}/`), 'strict-transport-security');
      if (/max-age="?0*[1-9]/i.test(header)) return pass(header);
      return warning(header === '' ? 'no Strict-Transport-Security' : `Strict-Transport-Security: ${header}`);
    },
    async 'reach.certificate'({ origin, certificateEnd, now }) {
      requireHttps(origin);
      const days = Math.floor(((await certificateEnd()) - now()) / DAY);
      return days < SOON ? warning(`it expires in ${days} days`) : pass(`valid for ${days} more days`);
    },
    async 'reach.clock'({ origin, path, ask, now }) {
      const before = now();
      const answer = await ask(`${origin}${path}`);
      const skew = clockSkew(answer, before, now());
      if (skew === undefined) throw new Unavailable('the response has no Date');
      const seconds = skew.seconds - Number(field(answer, 'age') || 0);
      if (seconds <= SKEW) return pass('within a minute of this machine’s');
      return warning(`${seconds} seconds ${skew.side} this machine’s`);
    },
  }),
  ...checks(['server'], {
    'reach.forwarded-host': ({ ask, server }) =>
      checkEach(
        'Host, Forwarded and X-Forwarded-Host change nothing',
        [
          { 'x-forwarded-host': STRANGE_HOST, 'x-forwarded-proto': 'https' },
          { forwarded: `host=${STRANGE_HOST};proto=https` },
          { host: STRANGE_HOST },
        ],
        async (headers) => {
          const answer = await ask(server.answer.url, { headers });
          const [name, value] = Object.entries(headers)[0] ?? [];
          const seen = `requested with ${name}: ${value}, ${where(answer)}`;
          if (jsonObject(answer) !== undefined && answer.text.includes(STRANGE_HOST))
            return failure(`${seen} contains that host`);
          if (isRedirect(answer) && field(answer, 'location').includes(STRANGE_HOST))
            return failure(`${seen} redirects to that host`);
          return undefined;
        },
      ),
  }),
];

function requireHttps(origin: string): void {
  if (!origin.startsWith('https:')) throw new Unavailable('the site does not use https');
}
