import type { Config } from '../../../../config/schema.ts';
import { once } from '../../../../http/once.ts';
import type { CarriedAs, Trial, TrialAnswer } from '../../../../upstream/assertion-trial.ts';
import { readTexts } from '../../../texts.ts';
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
  if (valid.status === undefined) return failure(seen, fixOf('not-running'));
  if (valid.status === 503 && none.status !== 503)
    return failure(`${seen} to a valid assertion: it cannot read the gate’s keys`, fixOf('unreadable-keys'));
  if (valid.status >= 500) return failure(`${seen} to a valid assertion`);
  const known = [...faults().values()].find(({ said }) => said && new RegExp(said, 'i').test(valid.said ?? ''));
  if (refuses(valid) && known !== undefined) return failure(`${seen} to a valid assertion`, known.fix);
  if (!same(valid, forged)) return pass(`${at} tells it from a forged one`);
  if (refuses(valid) && member !== undefined) return failure(`${seen} to a valid assertion, as to a forged one`);
  if (refuses(valid)) return `${at} ${NEEDS_MEMBER}`;
  return `${at} ${UNREAD}`;
}

/** What is wrong with a backend, and what to change. `said`: what drop-ins say about an assertion then. */
const faults = once(() => readTexts(['operator/doctor/backend/assertion-faults.yaml'], ['fix'], ['said']));

function fixOf(fault: string): string | undefined {
  return faults().get(fault)?.fix;
}

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
      if (same(valid, none)) return warning(`${at} answers ${inWords(answer)} to ${UNVERIFIED}`, fixOf('unverified'));
      const seen = `${at} answers ${inWords(answer)} to ${WORDS[fault]}, as to a valid one`;
      const plain = same(valid, forged) && config.upstreams[upstream]?.identity.includes('headers') === true;
      return plain ? warning(`${seen}: it believes X-Member-Id`, fixOf('plain-fields')) : failure(seen);
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
const NEEDS_MEMBER = 'refuses an unknown member like a forged assertion: name a member with --member';

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
