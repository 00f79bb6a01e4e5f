import { isLoopback } from '../../connect/oauth/transport.ts';
import { field, isRedirect, jsonObject, redirectTarget, where } from '../answer.ts';
import { checks } from '../check.ts';
import { failure, judgeEach, pass, warning } from '../finding.ts';
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
    'reach.https': {
      title: 'The site uses https',
      reference: 'RFC 6750 section 5.3, RFC 9728 section 2',
      fix: 'Serve the site over https only, and set the gate’s origin to that address.',
      run({ origin }) {
        const { protocol, hostname } = new URL(origin);
        if (protocol === 'https:') return pass(origin);
        if (isLoopback(hostname)) return pass(`${origin}: plain http, but only on this machine`);
        return failure(`${origin} is plain http: tokens can be intercepted`);
      },
    },
    'reach.http-redirect': {
      title: 'Plain http redirects to https or is refused',
      reference: 'RFC 9700 section 2.6, RFC 6797 section 7.2',
      fix: 'Redirect plain http to https for pages (301 or 308), and refuse it for the API: a token sent there may already have been intercepted.',
      async run({ plainOrigin, origin, ask }) {
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
    },
    'reach.hsts': {
      title: 'Browsers are told to use only https',
      reference: 'RFC 6797 section 7.1',
      fix: 'Send Strict-Transport-Security: max-age=31536000 from the server that terminates TLS.',
      async run({ origin, ask }) {
        requireHttps(origin);
        const header = field(await ask(`${origin}/`), 'strict-transport-security');
        if (/max-age="?0*[1-9]/i.test(header)) return pass(header);
        return warning(header === '' ? 'no Strict-Transport-Security' : `Strict-Transport-Security: ${header}`);
      },
    },
    'reach.certificate': {
      title: 'The certificate does not expire soon',
      reference: 'RFC 5280 section 4.1.2.5',
      fix: 'Renew it, and find out why it was not renewed automatically: ACME clients renew thirty days ahead.',
      async run({ origin, certificateEnd, now }) {
        requireHttps(origin);
        const days = Math.floor(((await certificateEnd()) - now()) / DAY);
        return days < SOON ? warning(`it expires in ${days} days`) : pass(`valid for ${days} more days`);
      },
    },
    'reach.clock': {
      title: 'The server’s clock is correct',
      reference: 'RFC 9110 section 6.6.1, RFC 9449 section 11.1',
      fix: 'Run a time service (chrony, systemd-timesyncd) on the server: proofs, assertions and expiry depend on its clock.',
      async run({ origin, path, ask, now }) {
        const before = now();
        const answer = await ask(`${origin}${path}`);
        const serverTime = Date.parse(field(answer, 'date'));
        if (Number.isNaN(serverTime)) throw new Unavailable('the response has no Date');
        const cached = Number(field(answer, 'age') || 0);
        // Date has whole seconds, and the response took some time.
        const skew = Math.round(Math.max(before - serverTime - 1000, serverTime - now(), 0) / 1000) - cached;
        if (skew <= SKEW) return pass('within a minute of this machine’s');
        return warning(`${skew} seconds ${serverTime > before ? 'ahead of' : 'behind'} this machine’s`);
      },
    },
  }),
  ...checks(['server'], {
    'reach.forwarded-host': {
      title: 'A forged host name does not appear in the metadata',
      reference: 'RFC 9700 section 4.4, RFC 8414 section 6.2',
      fix: 'Build the issuer and every URL from configuration, and trust X-Forwarded-* only from your own proxies: overwrite it at the edge.',
      run: ({ ask, server }) =>
        judgeEach(
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
    },
  }),
];

function requireHttps(origin: string): void {
  if (!origin.startsWith('https:')) throw new Unavailable('the site does not use https');
}
