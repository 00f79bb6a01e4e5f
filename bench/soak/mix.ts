import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Place } from './place.ts';
import { endedStaysEnded, refresh, registration, reuse, revocation, signIn } from './works/connections.ts';
import { account, anonymous, operator, read, refusals, school, webSocket, write } from './works/requests.ts';
import { stream, streamCut } from './works/streams.ts';
import { agentOfMember, agentOfNobody } from './works/tools.ts';

type Work = (place: Place) => Promise<void>;

/** Shares in percent. */
const MIX: readonly (readonly [name: string, share: number, work: Work])[] = [
  ['read', 22, read],
  ['write', 8, write],
  ['anonymous', 7, anonymous],
  ['school', 5, school],
  ['refresh', 9, refresh],
  ['sign-in', 5, signIn],
  ['account', 8, account],
  ['agent of a member', 4, agentOfMember],
  ['agent of nobody', 3, agentOfNobody],
  ['registration', 3, registration],
  ['revocation', 3, revocation],
  ['ended stays ended', 3, endedStaysEnded],
  ['reuse of a copy', 1, reuse],
  ['refusals', 6, refusals],
  ['stream', 8, stream],
  ['stream cut', 1, streamCut],
  ['web socket', 3, webSocket],
  ['operator', 1, operator],
];

const DRAWN = MIX.flatMap(([name, share, work]) => Array.from({ length: share }, () => [name, work] as const));

/** Bounds of the number of open connections: few enough to check each one, enough that none is in use all the time. */
const FEWEST = 12;
const MOST = 120;
/** Most pieces of work in progress at once. Beyond that, new ones are skipped and counted. */
const LANES = 40;

export interface Load {
  /** Starts no more work, and resolves when the work in progress has finished. */
  stop(): Promise<void>;
}

/** Starts work at a fixed rate, independent of response times, until it is stopped. */
export function startLoad(place: Place, perSecond: number): Load {
  const underWay = new Set<Promise<void>>();
  let over = false;
  const begin = (name: string, work: Work) => {
    if (underWay.size >= LANES) return place.ledger.counted('left out');
    const done = once(place, name, work).finally(() => underWay.delete(done));
    underWay.add(done);
  };
  const loading = (async () => {
    let due = performance.now();
    while (!over) {
      due = Math.max(due + 1000 / perSecond, performance.now() - 1000);
      await sleep(Math.max(0, due - performance.now()));
      begin(...choose(place));
    }
  })();
  return {
    async stop() {
      over = true;
      await loading;
      await Promise.all(underWay);
    },
  };
}

/** Does each kind of work, so that what the gate allocates once is allocated before the first sample. */
export async function warmUp(place: Place, times: number): Promise<void> {
  for (let held = 0; held < FEWEST; held += 1) await once(place, 'sign-in', signIn);
  for (let time = 0; time < times; time += 1) for (const [name, , work] of MIX) await once(place, name, work);
}

async function once(place: Place, name: string, work: Work): Promise<void> {
  place.ledger.counted(name);
  await work(place).catch((thrown: unknown) => place.ledger.fault(`${name} failed`, String(thrown)));
}

function choose({ ledger }: Place): [string, Work] {
  const [name, work] = DRAWN[randomInt(DRAWN.length)] ?? ['read', read];
  if (name === 'sign-in' && ledger.live >= MOST) return ['revocation', revocation];
  if (ledger.live < FEWEST) return ['sign-in', signIn];
  return [name, work];
}
