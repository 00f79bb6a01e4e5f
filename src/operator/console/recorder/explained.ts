import { LAST_USE, readLastUse } from '../../../authorization-server/connected-apps/use-entry.ts';
import { factOf } from '../../../operations/record/attempt.ts';
import type { Store } from '../../../storage/store.ts';
import type { Sources } from '../sources.ts';
import { isOfDoctor } from './agent.ts';
import { explanationOf } from './causes/explanation.ts';
import { knownOf } from './known.ts';
import { standstillOf } from './state.ts';
import { appName } from './words.ts';

/** What explains attempts. */
export type Explaining = Sources<'recorder' | 'store' | 'clock' | 'setting'>;

/** An attempt, whose it is, where it is, and why it stopped. */
export type Explained = Awaited<ReturnType<typeof everyAttempt>>[number];

/** The most attempts for which the counts of usage are read. */
const MOST_ASKED = 300;

/** The attempts of apps, the newest first: not those of `coursegate doctor`. */
export async function explainedAttempts(sources: Explaining): Promise<readonly Explained[]> {
  return (await everyAttempt(sources)).filter(({ attempt }) => !isOfDoctor(attempt));
}

/** All attempts, the newest first. */
export async function everyAttempt({ recorder, store, clock, setting }: Explaining) {
  const attempts = await recorder.list();
  const now = clock();
  const { apps, members } = await knownOf(
    store,
    attempts.map((one) => ({ app: factOf(one, 'clientId'), member: factOf(one, 'member') })),
  );
  let asked = 0;
  const explained = attempts.map(async (attempt) => {
    const first = standstillOf(attempt, now);
    const grantId = factOf(attempt, 'grantId');
    const asks =
      first.state === 'stopped' && grantId !== undefined && ['token', 'use', 'refresh'].includes(first.at.kind);
    asked += asks ? 1 : 0;
    const used = asks && asked <= MOST_ASKED && (await wasUsed(store, grantId, first.at.since));
    const { state, at } = used ? standstillOf(attempt, now, true) : first;
    /** Undefined unless it stopped. */
    const why = state === 'stopped' ? explanationOf({ ...setting, attempt, at }) : undefined;
    const app = apps.get(factOf(attempt, 'clientId') ?? '');
    /** What it is called, also if no app is known. */
    const name = factOf(attempt, 'clientName') ?? app?.name ?? appName(attempt);
    /** Undefined before the sign-in. */
    const member = members.get(factOf(attempt, 'member') ?? '');
    return { attempt, name, app, member, state, at, why };
  });
  return Promise.all(explained);
}

/** Whether the app has used its connection since then, as the page of connected apps counts it. */
async function wasUsed(store: Pick<Store, 'get'>, grantId: string, since: number): Promise<boolean> {
  const entry = await store.get(LAST_USE, grantId).catch(() => undefined);
  return entry !== undefined && readLastUse(entry).at * 1000 >= since - 1000;
}
