import { LAST_USE, readLastUse } from '../../../authorization-server/connected-apps/use-entry.ts';
import { type ConnectionAttempt, factOf } from '../../../operations/record/attempt.ts';
import type { Recorder } from '../../../operations/record/recorder.ts';
import type { Clock, Store } from '../../../storage/store.ts';
import type { Times } from '../times.ts';
import type { GateSetting } from './causes/cause.ts';
import { type Explanation, explanationOf } from './causes/explanation.ts';
import { type Standstill, type State, standstillOf } from './state.ts';

export interface Explaining {
  readonly recorder: Pick<Recorder, 'list'>;
  readonly store: Pick<Store, 'get'>;
  readonly clock: Clock;
  readonly setting: GateSetting;
  readonly times: Times;
}

/** An attempt, where it is, and why it stopped. */
export interface Explained {
  readonly attempt: ConnectionAttempt;
  readonly state: State;
  readonly at: Standstill['at'];
  /** Undefined unless it stopped. */
  readonly why: Explanation | undefined;
}

/** The most attempts for which the counts of usage are read. */
const MOST_ASKED = 300;

/** All attempts, the newest first. */
export async function explainedAttempts(parts: Explaining): Promise<readonly Explained[]> {
  const { recorder, store, clock, setting } = parts;
  const attempts = await recorder.list();
  const now = clock();
  let asked = 0;
  const explained = attempts.map(async (attempt): Promise<Explained> => {
    const first = standstillOf(attempt, now);
    const grantId = factOf(attempt, 'grantId');
    const asks =
      first.state === 'stopped' && grantId !== undefined && ['token', 'use', 'refresh'].includes(first.at.kind);
    asked += asks ? 1 : 0;
    const used = asks && asked <= MOST_ASKED && (await wasUsed(store, grantId, first.at.since));
    const { state, at } = used ? standstillOf(attempt, now, true) : first;
    const why = state === 'stopped' ? explanationOf({ ...setting, attempt, at }) : undefined;
    return { attempt, state, at, why };
  });
  return Promise.all(explained);
}

/** Whether the app has used its connection since then, as the page of connected apps counts it. */
async function wasUsed(store: Pick<Store, 'get'>, grantId: string, since: number): Promise<boolean> {
  const entry = await store.get(LAST_USE, grantId).catch(() => undefined);
  return entry !== undefined && readLastUse(entry).at * 1000 >= since - 1000;
}
