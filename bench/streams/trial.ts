import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { schoolOf } from '../../test/faults/gate-process.ts';
import { type App, bearer, registerApp, revoke } from '../../test/support/app.ts';
import { createBrowser } from '../../test/support/browser.ts';
import { connect } from '../../test/support/connection.ts';
import { freePort } from '../../test/support/world.ts';
import { type SoakGate, soakGate } from '../soak/gate.ts';
import { memoryOf } from '../support/cpu.ts';
import type { CrowdSays, CrowdTold } from './crowd.ts';
import type { SourceSays } from './source.ts';

export interface StreamsOptions {
  readonly streams: number;
  /** Grants that the streams are spread over; one of them is revoked. */
  readonly grants: number;
  readonly folder: string;
  /** Seconds in which plain requests are timed, with a tick each second. */
  readonly seconds: number;
  readonly say: (line: string) => void;
}

/** Plain requests beside the streams: milliseconds, and statuses that were not 200. */
interface Beside {
  readonly requests: number;
  readonly p50: number;
  readonly p99: number;
  readonly others: readonly number[];
}

export interface StreamsOutcome {
  /** Seconds until every stream had its first event. */
  readonly opened: number;
  readonly ticks: { readonly sent: number; readonly heard: number };
  /** KiB of proportional set size that one stream adds to the gate. */
  readonly each: number;
  readonly beside: Beside;
  /** Streams of the grant that was revoked, how many ended, seconds until all had, and how many others ended. */
  readonly revoked: {
    readonly streams: number;
    readonly ended: number;
    readonly others: number;
    readonly took: number;
  };
  /** All dropped by a reset and opened again at once: seconds until all were open, and the plain requests meanwhile. */
  readonly storm: { readonly streams: number; readonly took: number; readonly beside: Beside };
  /** Descriptors of the gate: before, with all streams, and when they have gone. */
  readonly descriptors: { readonly before: number; readonly open: number; readonly after: number };
  /** What the crowd was answered besides streams. */
  readonly refused: Readonly<Record<string, number>>;
}

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const WITHIN = 120_000;

/** Event streams through one gate: crowd and upstream are processes of their own, as each has that many descriptors. */
export async function runStreams(options: StreamsOptions): Promise<StreamsOutcome> {
  const closers: (() => unknown)[] = [];
  try {
    const source = fork(file('source.ts'));
    closers.push(() => end(source));
    const [{ port }] = (await once(source, 'message')) as [Extract<SourceSays, { port: number }>];
    const crowd = new Crowd(fork(file('crowd.ts')));
    closers.push(() => crowd.end());
    const gatePort = await freePort();
    const origin = `http://localhost:${gatePort}`;
    const school = await schoolOf(origin);
    closers.push(() => school.close());
    const gate = await soakGate({
      ...{ name: 'streams', folder: options.folder, port: gatePort, origin },
      environment: {
        COURSEGATE__UPSTREAMS__SCHOOL__URL: school.urls.school,
        COURSEGATE__UPSTREAMS__PROGRESS__URL: school.urls.progress,
        COURSEGATE__UPSTREAMS__EVENTS__URL: school.urls.events,
        COURSEGATE__UPSTREAMS__SOURCE: `{ url: "http://127.0.0.1:${port}" }`,
        COURSEGATE__LISTEN__MAX_CONNECTIONS: '100000',
        COURSEGATE__LISTEN__DRAIN: '{ notice: 0s, grace: 1s }',
        COURSEGATE__LOG__ACCESS: 'false',
        COURSEGATE__TOKENS: '{ access: 1h }',
        COURSEGATE__ROUTES: `[
          { match: "GET /api/v1/whoami", upstream: school, scopes: [] },
          { match: "GET /events/**", upstream: source, scopes: [courses:read] },
          { match: "GET /plain", upstream: source, scopes: [courses:read] } ]`,
      },
    });
    closers.push(() => gate.kill());
    await gate.start();
    const app = await registerApp(origin);
    return await perform({ gate, crowd, source, app, origin, gatePort }, options);
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

interface Stage {
  readonly gate: SoakGate;
  readonly crowd: Crowd;
  readonly source: ChildProcess;
  readonly app: App;
  readonly origin: string;
  readonly gatePort: number;
}

async function perform(stage: Stage, { streams, grants, seconds, say }: StreamsOptions): Promise<StreamsOutcome> {
  const { gate, crowd, source, app, origin, gatePort } = stage;
  const browser = createBrowser();
  const held: { access_token: string }[] = [];
  // The first grant is the one that is revoked, and one more is nobody's but the plain requests'.
  while (held.length <= grants) held.push(await connect(app, { browser }));
  const tokens = held.slice(0, grants).map(({ access_token }) => access_token);
  const own = held[grants]?.access_token ?? '';
  const openAll = async (which: readonly string[], count: number): Promise<number> => {
    const [began, before] = [performance.now(), crowd.says.begun];
    crowd.tell({ do: 'open', port: gatePort, streams: count, tokens: which });
    await crowd.until(({ begun }) => begun - before === count, `${count} streams are open`);
    return (performance.now() - began) / 1000;
  };

  // What a first stream makes for good is not what each one costs.
  await openAll(tokens, 20);
  crowd.tell({ do: 'close' });
  await crowd.until(({ open }) => open === 0, 'the first streams are closed');
  const before = await settled(gate);
  const heldBefore = memoryOf([gate.pid()]);

  const opened = await openAll(tokens, streams);
  say(`${streams} streams opened in ${opened.toFixed(1)} s`);
  const during = await gate.sample();
  await gate.sample();
  const each = (memoryOf([gate.pid()]) - heldBefore) / streams;

  const from = crowd.says.ticks;
  let sent = 0;
  const tick = async (): Promise<number> => {
    const told = once(source, 'message');
    source.send('tick');
    const [{ ticked }] = (await told) as [Extract<SourceSays, { ticked: number }>];
    sent += ticked;
    return ticked;
  };
  const beside = await timed(origin, own, seconds * 1000, tick);
  await crowd.until(({ ticks }) => ticks - from >= sent, 'every tick is heard');
  const heard = crowd.says.ticks - from;
  const sentToAll = sent;
  say(`${heard} of ${sent} ticks heard`);

  const ofRevoked = Math.ceil(streams / grants);
  const revoking = performance.now();
  await revoke(app, tokens[0] ?? '');
  await crowd.until(({ open }) => open <= streams - ofRevoked, 'the streams of the grant that was revoked end');
  const took = (performance.now() - revoking) / 1000;
  // Those of others stay open, and go on hearing.
  const left = crowd.says.open;
  const rest = crowd.says.ticks;
  await tick();
  await crowd.until(({ ticks }) => ticks - rest >= left, 'the other streams go on');
  const { ended } = crowd.says;
  const others = Object.entries(ended).reduce((sum, [which, count]) => sum + (which === '0' ? 0 : count), 0);
  const revoked = { streams: ofRevoked, ended: ended[0] ?? 0, others, took };
  say(`a grant of ${ofRevoked} streams was revoked: ${revoked.ended} ended in ${took.toFixed(1)} s, ${others} others`);

  const standing = tokens.slice(1);
  let over = false;
  const stormBeside = timed(origin, own, () => over, undefined);
  crowd.tell({ do: 'reset' });
  const storm = await openAll(standing, left);
  over = true;
  say(`${left} streams were reset and are open again after ${storm.toFixed(1)} s`);

  const stormy = await stormBeside;
  crowd.tell({ do: 'close' });
  await crowd.until(({ open }) => open === 0, 'all are closed');
  let after = await gate.sample();
  for (const deadline = Date.now() + WITHIN; after.descriptors > before && Date.now() < deadline; ) {
    await sleep(500);
    after = await gate.sample();
  }
  await gate.stop();
  return {
    ...{ opened, ticks: { sent: sentToAll, heard }, each, beside, revoked },
    storm: { streams: left, took: storm, beside: stormy },
    descriptors: { before, open: during.descriptors, after: after.descriptors },
    refused: crowd.says.refused,
  };
}

/** Plain requests one after another, some forty a second, for so long, with a tick each second if one is given. */
async function timed(
  origin: string,
  token: string,
  until: number | (() => boolean),
  tick: (() => Promise<unknown>) | undefined,
): Promise<Beside> {
  const began = performance.now();
  const taken: number[] = [];
  const others: number[] = [];
  const over = typeof until === 'number' ? () => performance.now() - began > until : until;
  let ticks = 0;
  while (!over()) {
    if (tick !== undefined && performance.now() - began > ticks * 1000) {
      ticks += 1;
      await tick();
    }
    const asked = performance.now();
    const answer = await fetch(`${origin}/plain`, { headers: bearer(token) });
    await answer.arrayBuffer();
    taken.push(performance.now() - asked);
    if (answer.status !== 200) others.push(answer.status);
    await sleep(25);
  }
  taken.sort((left, right) => left - right);
  const at = (share: number) => taken[Math.min(taken.length - 1, Math.floor(taken.length * share))] ?? 0;
  return { requests: taken.length, p50: at(0.5), p99: at(0.99), others };
}

/** Descriptors, once they do not change any more. */
async function settled(gate: SoakGate): Promise<number> {
  let last = await gate.sample();
  for (let same = 0; same < 3; ) {
    await sleep(2_000);
    const next = await gate.sample();
    same = next.descriptors === last.descriptors ? same + 1 : 0;
    last = next;
  }
  return last.descriptors;
}

/** The process of the clients, and what it said last. */
class Crowd {
  readonly #child: ChildProcess;
  says: CrowdSays = { open: 0, begun: 0, ticks: 0, ended: {}, refused: {} };

  constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (says: CrowdSays) => {
      this.says = says;
    });
  }

  tell(told: CrowdTold): void {
    this.#child.send(told);
  }

  async until(holds: (says: CrowdSays) => boolean, what: string): Promise<void> {
    for (const deadline = Date.now() + WITHIN; !holds(this.says); await sleep(20)) {
      if (Date.now() > deadline) throw new Error(`not in time: ${what}; ${JSON.stringify(this.says)}`);
    }
  }

  end(): Promise<void> {
    return end(this.#child);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
