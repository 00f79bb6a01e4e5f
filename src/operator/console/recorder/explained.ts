import { LAST_USE, readLastUse } from '../../../authorization-server/connected-apps/use-entry.ts';
import { type ConnectionAttempt, factOf } from '../../../operations/record/attempt.ts';
import type { Store } from '../../../storage/store.ts';
import type { Sources } from '../sources.ts';
import { type Explanation, explanationOf } from './causes/explanation.ts';
import { type Standstill, type State, standstillOf } from './state.ts';

/** What explains attempts. */
export type Explaining = Sources<'recorder' | 'store' | 'clock' | 'setting'>;

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
export async function explainedAttempts({
  recorder,
  store,
  clock,
  setting,
}: Explaining): Promise<readonly Explained[]> {
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
