import type { Config } from '../../../../config/schema.ts';
import type { CarriedAs, Trial, TrialAnswer } from '../../../../upstream/assertion-trial.ts';
import type { CheckOutcome } from '../../check.ts';
import { failure, pass, type Verdict, warning } from '../../finding.ts';
import { Unavailable } from '../../unavailable.ts';
import { backendChecks } from '../check.ts';
import type { Installation } from '../installation.ts';

const hasAssertions = ({ upstreams }: Config) =>
  Object.values(upstreams).some(({ identity }) => identity.includes('assertion'));

/** Whether the backends believe the gate, and no one else. The gate itself sends the requests. */
export const ASSERTIONS = backendChecks(hasAssertions, {
  'assertion.accepted': (installation) => eachTrial(installation, (trial) => checkValid(trial, installation)),
  'assertion.forged': (installation) =>
    eachTrial(installation, (trial) => checkFaulty(trial, installation, ['forged'])),
  'assertion.expired': (installation) =>
    eachTrial(installation, (trial) => checkFaulty(trial, installation, ['expired'])),
  'assertion.elsewhere': (installation) =>
    eachTrial(installation, (trial) => checkFaulty(trial, installation, ['other-origin', 'other-upstream'])),
});

/** A verdict; a text says why an upstream allows none. */
type TrialVerdict = Verdict | string;

/** Checks every upstream. Throws Unavailable with the reasons if none shows anything. */
async function eachTrial({ facts }: Installation, check: (trial: Trial) => TrialVerdict): Promise<CheckOutcome> {
  const found = (await facts.trials()).map(check);
  const verdicts = found.filter((one) => typeof one !== 'string');
  const seen = found.map((one) => (typeof one === 'string' ? one : one.seen)).join('; ');
  if (verdicts.length === 0) throw new Unavailable(seen);
  const problems = verdicts.filter(({ level }) => level !== 'pass');
  return problems.length > 0 ? problems : pass(seen);
}

function checkValid(trial: Trial, { member, silent }: Installation): TrialVerdict {
  const { answers } = trial;
  const { valid, forged, none } = answers;
  const at = `${trial.upstream}: ${withoutQuery(trial.path)}`;
  const seen = `${at} answers ${inWords(valid)}`;
  if (silent.has(trial.upstream)) return `the upstream ${trial.upstream} does not answer`;
  if (valid.status === undefined) return failure(seen, 'Start the backend: see upstream.reachable.');
  if (valid.status === 503 && none.status !== 503)
    return failure(
      `${seen} to a valid assertion: it cannot read the gate’s keys`,
      'Let the backend reach the gate’s /.well-known/jwks.json: at its internal address, such as http://127.0.0.1:8080/.well-known/jwks.json, if not at its origin.',
    );
  if (valid.status >= 500) return failure(`${seen} to a valid assertion`);
  const said = FAULTS.find(([words]) => words.test(valid.said ?? ''));
  if (refuses(valid) && said !== undefined) return failure(`${seen} to a valid assertion`, said[1]);
  if (!same(valid, forged)) return pass(`${at} tells it from a forged one`);
  if (refuses(valid) && member !== undefined) return failure(`${seen} to a valid assertion, as to a forged one`);
  if (refuses(valid)) return `${at} ${NEEDS_MEMBER}`;
  return `${at} ${UNREAD}`;
}

/** What drop-ins say about an assertion that they do not accept, and what to change. */
const FAULTS: readonly (readonly [RegExp, string])[] = [
  [/issuer/i, 'Set the gate’s `origin` in the settings of the drop-in, exactly as in coursegate.yaml.'],
  [
    /audience/i,
    'Set the name of the upstream in the settings of the drop-in, as under `upstreams` in coursegate.yaml.',
  ],
  [/expired|not valid yet/i, 'Set the clocks of the gate and the backend: see upstream.clock.'],
  [
    /unknown key|invalid signature/i,
    'Let the drop-in read the keys of this gate: its address for the keys leads to another gate, or to an old copy.',
  ],
  [
    /one request|another request/i,
    'Remove the setting that refuses assertions which are not made for one request: it is for plugin mode.',
  ],
];

function checkFaulty(
  { upstream, path, answers }: Trial,
  { config, member }: Installation,
  faults: readonly CarriedAs[],
): TrialVerdict {
  const at = `${upstream}: ${withoutQuery(path)}`;
  const { none, valid, forged } = answers;
  if (valid.status === undefined || valid.status >= 500) return `${at} verifies no assertion now`;
  for (const fault of faults) {
    const answer = answers[fault];
    if (answer.status === undefined) return `${at} does not answer`;
    if (same(answer, valid)) {
      if (refuses(valid) && same(valid, forged))
        return member === undefined ? `${at} ${NEEDS_MEMBER}` : `${at} refuses every assertion`;
      if (same(valid, none) && (fault !== 'forged' || !serves(valid))) return `${at} ${UNREAD}`;
      if (same(valid, none)) return warning(`${at} answers ${inWords(answer)} to ${UNVERIFIED}`, UNVERIFIED_FIX);
      const seen = `${at} answers ${inWords(answer)} to ${WORDS[fault]}, as to a valid one`;
      const plain = same(valid, forged) && config.upstreams[upstream]?.identity.includes('headers') === true;
      return plain ? warning(`${seen}: it believes X-Member-Id`, PLAIN) : failure(seen);
    }
    // Served like a request without a member, it opens nothing.
    if (refuses(answer) || same(answer, none)) continue;
    return failure(`${at} answers ${inWords(answer)} to ${WORDS[fault]} instead of refusing it`);
  }
  return pass(`${at} refuses ${faults.map((fault) => WORDS[fault]).join(' and ')}`);
}

const UNREAD = 'answers the same with and without an assertion';
const UNVERIFIED =
  'a forged assertion and to none, as to a valid one: nobody verifies the assertion there, unless the address is open to everyone';
const UNVERIFIED_FIX =
  'Verify the assertion wherever a member’s data is read or changed, with the drop-in or a library for JWTs: otherwise anyone who reaches the backend can act as any member. If the address is open to everyone, put a route of members before it to have that one tried.';

const NEEDS_MEMBER = 'refuses an unknown member like a forged assertion: name a member with --member';

const PLAIN =
  'Verify the assertion. If the backend is meant to believe X-Member-Id because only the gate reaches it, set upstreams.*.identity to [headers].';

const WORDS: Readonly<Record<CarriedAs, string>> = {
  none: 'none',
  valid: 'a valid one',
  forged: 'a forged one',
  expired: 'one that has expired',
  'other-origin': 'one of another origin',
  'other-upstream': 'one for another backend',
};

const serves = ({ status = 0 }: TrialAnswer) => status >= 200 && status < 300;
const refuses = ({ status }: TrialAnswer) => status === 401 || status === 403;
const same = (one: TrialAnswer, other: TrialAnswer) => one.status === other.status && one.said === other.said;

function inWords({ status, said }: TrialAnswer): string {
  if (status === undefined) return `nothing (${said ?? 'no answer'})`;
  return said === undefined ? `${status}` : `${status} "${said}"`;
}

function withoutQuery(path: string): string {
  return path.split('?')[0] ?? path;
}
