import type { Config } from '../../../../config/schema.ts';
import { GatewayError } from '../../../../errors.ts';
import { createWhoami } from '../../../../login/whoami/whoami.ts';
import { field, type SiteAnswer } from '../../answer.ts';
import { edgeOf } from '../../edges.ts';
import { failure, pass, type Verdict, warning } from '../../finding.ts';
import { Unavailable } from '../../unavailable.ts';
import { backendChecks } from '../check.ts';
import type { Installation } from '../installation.ts';

const isSession = ({ login }: Config) => login.kind === 'session';

/** Whether the backend says who is signed in, and who is not. */
export const WHOAMI = backendChecks(isSession, {
  async 'whoami.anonymous'(installation) {
    const answer = await installation.facts.anonymous();
    return judge(
      answer,
      installation,
      'it names a member without a cookie: everyone would be signed in as this member',
    );
  },
  async 'whoami.stranger'(installation) {
    const { anonymous, stranger } = installation.facts;
    const verdict = judge(await stranger(), installation, 'it names a member for a session that does not exist');
    const without = judge(await anonymous(), installation, '');
    if (verdict.level === 'failure' && verdict.seen === without.seen)
      throw new Unavailable('the answer is the same as without a cookie');
    return verdict;
  },
  async 'whoami.not-cached'({ facts }) {
    const answers = [await facts.anonymous(), await facts.stranger()];
    return answers.map(judgeCaching).toSorted((a, b) => rank(b) - rank(a))[0] ?? pass('not cached');
  },
});

const rank = ({ level }: Verdict) => ['pass', 'warning', 'failure'].indexOf(level);

/** Reads an answer as the gate would. */
function judge(answer: SiteAnswer, { config: { login } }: Installation, otherwise: string): Verdict {
  if (login.kind !== 'session') throw new Error('The checks of whoami are for the login kind `session`.');
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

function judgeCaching(answer: SiteAnswer): Verdict {
  const [control, age] = [field(answer, 'cache-control').toLowerCase(), Number(field(answer, 'age') || 0)];
  const from = ['x-cache', 'cf-cache-status', 'x-cache-status', 'x-proxy-cache'].find((name) =>
    /\bhit\b/i.test(field(answer, name)),
  );
  if (age > 0) return failure(`the answer comes from a cache (Age: ${age})`);
  if (from !== undefined) return failure(`the answer comes from a cache (${from}: ${field(answer, from)})`);
  if (/no-store|no-cache|private/.test(control)) return pass(control);
  if (/public|s-maxage|max-age=0*[1-9]/.test(control)) return failure(`it may be cached: Cache-Control: ${control}`);
  // RFC 9110 section 15.1: a cache may keep an answer with this status without being told to.
  const keeps = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410].includes(answer.status);
  return keeps
    ? warning(`${answer.status} without Cache-Control: no-store`)
    : pass(`${answer.status}, which caches do not keep`);
}
