import { field, isRedirect, jsonObject, redirectTarget, where } from '../answer.ts';
import { check } from '../check.ts';
import { failure, pass, warning } from '../finding.ts';
import { isLoopbackName } from '../private-addresses.ts';
import { NoAnswer, Unavailable } from '../unavailable.ts';

/** A name that can never exist (RFC 6761 §6.4). */
const STRANGE_HOST = 'coursegate-doctor.invalid';
/** Seconds by which clocks may differ before proofs and assertions are taken for old ones. */
const SKEW = 60;
const DAY = 86_400_000;
/** Days before its end at which a certificate should have been renewed. */
const SOON = 14;

/** Whether the site is reached as clients will reach it. */
export const REACH = [
  check({
    id: 'reach.https',
    title: 'The site is asked by https',
    reference: 'RFC 6750 §5.3, RFC 9728 §2',
    fix: 'Serve the site by https only, and set the gate’s origin to that address.',
    needs: [],
    async run({ origin }) {
      const { protocol, hostname } = new URL(origin);
      if (protocol === 'https:') return pass(origin);
      if (isLoopbackName(hostname)) return pass(`${origin}: plain http, which never leaves this machine`);
      return failure(`${origin} is plain http: tokens can be read on the way`);
    },
  }),
  check({
    id: 'reach.http-redirect',
    title: 'Plain http leads to https, or nowhere',
    reference: 'RFC 9700 §2.6, RFC 6797 §7.2',
    fix: 'Redirect plain http to https for pages (301 or 308), and refuse it for the API: a token sent there is already read.',
    needs: [],
    async run({ plainOrigin, origin, ask }) {
      if (plainOrigin === undefined) throw new Unavailable('there is no plain http beside this address');
      try {
        const answer = await ask(`${plainOrigin}/`);
        const target = redirectTarget(answer);
        if (target?.protocol === 'https:' && target.hostname === new URL(origin).hostname)
          return pass(`${answer.status} to ${target.origin}`);
        if (target !== undefined) return warning(`${plainOrigin}/ leads to ${target.origin}`);
        if (answer.status >= 400) return pass(`plain http is answered ${answer.status}`);
        return warning(`${plainOrigin}/ answers ${answer.status} itself`);
      } catch (thrown) {
        if (thrown instanceof NoAnswer) return pass(`plain http is not served (${thrown.message})`);
        throw thrown;
      }
    },
  }),
  check({
    id: 'reach.hsts',
    title: 'Browsers are told to stay with https',
    reference: 'RFC 6797 §7.1',
    fix: 'Send Strict-Transport-Security: max-age=31536000 from whatever ends TLS.',
    needs: [],
    async run({ origin, ask }) {
      if (!origin.startsWith('https:')) throw new Unavailable('the site is not asked by https');
      const answer = await ask(`${origin}/`);
      const said = field(answer, 'strict-transport-security');
      const age = Number(/max-age="?(\d+)/i.exec(said)?.[1] ?? 0);
      if (age > 0) return pass(said);
      return warning(said === '' ? 'no Strict-Transport-Security' : `Strict-Transport-Security: ${said}`);
    },
  }),
  check({
    id: 'reach.certificate',
    title: 'The certificate is good for a while',
    reference: 'RFC 5280 §4.1.2.5',
    fix: 'Renew it, and see why that did not happen by itself: ACME clients renew thirty days ahead.',
    needs: [],
    async run({ origin, tls, now }) {
      if (!origin.startsWith('https:')) throw new Unavailable('the site is not asked by https');
      const days = Math.floor(((await tls.view()).ends - now()) / DAY);
      return days < SOON ? warning(`it ends in ${days} days`) : pass(`for ${days} days more`);
    },
  }),
  check({
    id: 'reach.http2',
    title: 'HTTP/2 is answered like HTTP/1.1',
    reference: 'RFC 9113 §3.2',
    fix: 'Let what ends TLS speak HTTP/2 to clients and HTTP/1.1 to the gate, for every path alike; else do not offer h2.',
    needs: [],
    async run({ origin, tls, ask }) {
      if (!origin.startsWith('https:')) throw new Unavailable('the site is not asked by https');
      if (!(await tls.view()).http2) return pass('not offered');
      const url = `${origin}/.well-known/oauth-protected-resource`;
      const [{ status }, other] = [await ask(url), await tls.statusByHttp2(url)];
      if (status === other) return pass(`${other}`);
      return warning(`the metadata is ${other} by HTTP/2, ${status} by HTTP/1.1`);
    },
  }),
  check({
    id: 'reach.clock',
    title: 'The clock is right',
    reference: 'RFC 9110 §6.6.1, RFC 9449 §11.1',
    fix: 'Run a time service (chrony, systemd-timesyncd) on the server: proofs, assertions and expiry are judged by its clock.',
    needs: [],
    async run({ origin, path, ask, now }) {
      const before = now();
      const answer = await ask(`${origin}${path}`);
      const said = Date.parse(field(answer, 'date'));
      if (Number.isNaN(said)) throw new Unavailable('the answer has no Date');
      const cached = Number(field(answer, 'age') || 0);
      // Date has whole seconds, and the answer was on its way.
      const skew = Math.round(Math.max(before - said - 1000, said - now(), 0) / 1000) - cached;
      if (skew <= SKEW) return pass('as this machine’s, within a minute');
      return warning(`${skew} seconds ${said > before ? 'ahead of' : 'behind'} this machine’s`);
    },
  }),
  check({
    id: 'reach.forwarded-host',
    title: 'A host named by a stranger does not get into the metadata',
    reference: 'RFC 9700 §4.4, RFC 8414 §6.2',
    fix: 'Let the issuer and every URL come from configuration, and take X-Forwarded-* from your own proxies only: overwrite them at the edge.',
    needs: ['server'],
    async run({ ask }, { server }) {
      const url = server.answer.url;
      for (const headers of [
        { 'x-forwarded-host': STRANGE_HOST, 'x-forwarded-proto': 'https' },
        { forwarded: `host=${STRANGE_HOST};proto=https` },
        { host: STRANGE_HOST },
      ]) {
        const answer = await ask(url, { headers });
        const [[name = '', value = ''] = []] = Object.entries(headers);
        if (jsonObject(answer) !== undefined && answer.text.includes(STRANGE_HOST))
          return failure(`asked with ${name}: ${value}, ${where(answer)} names that host`);
        if (isRedirect(answer) && field(answer, 'location').includes(STRANGE_HOST))
          return failure(`asked with ${name}: ${value}, ${where(answer)} redirects to that host`);
      }
      return pass('Host, Forwarded and X-Forwarded-Host change nothing');
    },
  }),
] as const;
