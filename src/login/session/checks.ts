import { GatewayError } from '../../errors.ts';
import { cacheHit, field, type SiteAnswer } from '../../operator/doctor/answer.ts';
import { type InstallationWith, loginChecks } from '../../operator/doctor/backend/check.ts';
import { edgeOf } from '../../operator/doctor/edges.ts';
import { failure, pass, type Verdict, warning } from '../../operator/doctor/finding.ts';
import { Unavailable } from '../../operator/doctor/unavailable.ts';
import { createWhoami } from '../whoami/whoami.ts';

/** Whether the backend says who is signed in, and who is not. */
export const SESSION = loginChecks('session', {
  async 'whoami.anonymous'(installation) {
    const answer = await installation.facts.anonymous();
    return verdictOn(
      answer,
      installation,
      'it names a member without a cookie: everyone would be signed in as this member',
    );
  },
  async 'whoami.stranger'(installation) {
    const { anonymous, stranger } = installation.facts;
    const verdict = verdictOn(await stranger(), installation, 'it names a member for a session that does not exist');
    const without = verdictOn(await anonymous(), installation, '');
    if (verdict.level === 'failure' && verdict.seen === without.seen)
      throw new Unavailable('the answer is the same as without a cookie');
    return verdict;
  },
  async 'whoami.not-cached'({ facts }) {
    const answers = [await facts.anonymous(), await facts.stranger()];
    return answers.map(checkCaching).toSorted((a, b) => rank(b) - rank(a))[0] ?? pass('not cached');
  },
});

const rank = ({ level }: Verdict) => ['pass', 'warning', 'failure'].indexOf(level);

/** Reads an answer as the gate would. */
function verdictOn(answer: SiteAnswer, { config: { login } }: InstallationWith<'session'>, otherwise: string): Verdict {
  const { status, text: body } = answer;
  const headers = Object.fromEntries(Object.keys(answer.headers).map((name) => [name, field(answer, name)]));
  try {
    const member = createWhoami(login.whoami, answer.url).read({ status, headers, body });
    return member === undefined ? pass(`${status}`) : failure(`GET ${answer.url} answers ${status}: ${otherwise}`);
  } catch (thrown) {
    const cause = thrown instanceof GatewayError ? thrown.cause : thrown;
    return failure(cause instanceof Error ? cause.message.replace(/\.$/, '') : String(cause), edgeOf(answer)?.fix);
  }
}

function checkCaching(answer: SiteAnswer): Verdict {
  const control = field(answer, 'cache-control').toLowerCase();
  const hit = cacheHit(answer);
  if (hit !== undefined) return failure(`the answer comes from a cache (${hit})`);
  if (/no-store|no-cache|private/.test(control)) return pass(control);
  if (/public|s-maxage|max-age=0*[1-9]/.test(control)) return failure(`it may be cached: Cache-Control: ${control}`);
  // RFC 9110 section 15.1: a cache may keep an answer with this status without being told to.
  const keeps = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410].includes(answer.status);
  return keeps
    ? warning(`${answer.status} without Cache-Control: no-store`)
    : pass(`${answer.status}, which caches do not keep`);
}
