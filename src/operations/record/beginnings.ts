import { type AttemptStep, isDiscovery } from './attempt.ts';

const MINUTE = 60_000;
/** New attempts in a minute that begin with requests anyone can send: of one network, and of all. */
const OF_NETWORK = 60;
const OF_ALL = 600;

/** Bounds the work that a flood of such requests makes. Registrations and authorization requests are not bounded here. */
export function createBeginnings(): (step: AttemptStep) => boolean {
  const begun = new Map<string, number>();
  let all = 0;
  let ends = 0;
  return (step) => {
    if (!isDiscovery(step) && step.kind !== 'use' && step.outcome !== 'lost') return true;
    if (step.at >= ends || ends - step.at > MINUTE) {
      begun.clear();
      all = 0;
      ends = step.at + MINUTE;
    }
    const ofNetwork = begun.get(step.network) ?? 0;
    if (ofNetwork >= OF_NETWORK || all >= OF_ALL) return false;
    begun.set(step.network, ofNetwork + 1);
    all += 1;
    return true;
  };
}
