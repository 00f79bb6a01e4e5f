import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { schoolOf } from '../../test/faults/gate-process.ts';
import { type App, bearer, registerApp, revoke } from '../../test/support/app.ts';
import { createBrowser } from '../../test/support/browser.ts';
import { connect } from '../../test/support/connection.ts';
import { freePort } from '../../test/support/world.ts';
import { type SoakGate, soakGate } from '../soak/gate.ts';
import { memoryOf } from '../support/cpu.ts';
import { startProcess } from '../support/processes.ts';
import { Crowd, tick, WITHIN } from './crowd-process.ts';

export interface StreamsOptions {
  readonly streams: number;
  /** Grants that the streams are distributed over. One of them is revoked. */
  readonly grants: number;
  readonly folder: string;
  /** How long plain requests are timed, in seconds, with one event per stream and second. */
  readonly seconds: number;
  readonly say: (line: string) => void;
}

/** Plain requests during the streams: latency in milliseconds, and statuses other than 200. */
interface Beside {
  readonly requests: number;
  readonly p50: number;
  readonly p99: number;
  readonly others: readonly number[];
}

export interface StreamsOutcome {
  /** Seconds until every stream had received its first event. */
  readonly opened: number;
  readonly ticks: { readonly sent: number; readonly heard: number };
  /** Proportional set size that one stream adds to the gate, in KiB. */
  readonly each: number;
  /** Before any stream is open, beside events that are spread over the second, and beside events in the same instant. */
  readonly alone: Beside;
  readonly beside: Beside;
  readonly besideAtOnce: Beside;
  /** Streams of the revoked grant, how many of them ended, seconds until all had ended, and how many other streams ended. */
  readonly revoked: {
    readonly streams: number;
    readonly ended: number;
    readonly others: number;
    readonly took: number;
  };
  /** All streams reset and reopened at once: seconds until all were open, and the plain requests in that time. */
  readonly storm: { readonly streams: number; readonly took: number; readonly beside: Beside };
  /** Descriptors of the gate: before, with all streams, and after they were closed. */
  readonly descriptors: { readonly before: number; readonly open: number; readonly after: number };
  /** Responses to the clients that were not streams. */
  readonly refused: Readonly<Record<string, number>>;
}

const SOURCE = fileURLToPath(new URL('../support/event-source.ts', import.meta.url));

/** Event streams through one gate. Clients and upstreams are separate processes, because each needs that many descriptors. */
export async function runStreams(options: StreamsOptions): Promise<StreamsOutcome> {
  const closers: (() => unknown)[] = [];
  try {
    // Plain requests have an upstream of their own: the one of the streams is busy while it sends their events.
    const [port, plainPort] = [await freePort(), await freePort()];
    for (const own of [port, plainPort]) {
      const source = await startProcess(process.execPath, [SOURCE], {
        environment: { PORT: String(own) },
        port: own,
        output: join(options.folder, `source-${own}.log`),
      });
      closers.push(() => source.stop());
    }
    const crowd = new Crowd();
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
        COURSEGATE__UPSTREAMS__PLAIN: `{ url: "http://127.0.0.1:${plainPort}" }`,
        COURSEGATE__LISTEN__MAX_CONNECTIONS: '100000',
        COURSEGATE__LISTEN__DRAIN: '{ notice: 0s, grace: 1s }',
        COURSEGATE__LOG__ACCESS: 'false',
        COURSEGATE__TOKENS: '{ access: 1h }',
        COURSEGATE__ROUTES: `[
          { match: "GET /api/v1/whoami", upstream: school, scopes: [] },
          { match: "GET /events/**", upstream: source, scopes: [courses:read] },
          { match: "GET /plain", upstream: plain, scopes: [courses:read] } ]`,
      },
    });
    closers.push(() => gate.kill());
    await gate.start();
    const app = await registerApp(origin);
    return await perform({ gate, crowd, sourcePort: port, app, origin, gatePort }, options);
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

interface Stage {
  readonly gate: SoakGate;
  readonly crowd: Crowd;
  readonly sourcePort: number;
  readonly app: App;
  readonly origin: string;
  readonly gatePort: number;
}

async function perform(stage: Stage, { streams, grants, seconds, say }: StreamsOptions): Promise<StreamsOutcome> {
  const { gate, crowd, sourcePort, app, origin, gatePort } = stage;
  const browser = createBrowser();
  const held: { access_token: string }[] = [];
  // The first grant is revoked later. One more grant is used only by the plain requests.
  while (held.length <= grants) held.push(await connect(app, { browser }));
  const tokens = held.slice(0, grants).map(({ access_token }) => access_token);
  const own = held[grants]?.access_token ?? '';
  const openAll = (which: readonly string[], count: number): Promise<number> =>
    crowd.open({ port: gatePort, path: '/events/all', streams: count, tokens: which });

  // The first streams cause one-time allocations, which must not count as memory per stream.
  await openAll(tokens, 20);
  crowd.tell({ do: 'close' });
  await crowd.until(({ open }) => open === 0, 'the first streams are closed');
  const before = await settled(gate);
  const alone = await timed(origin, own, seconds * 1000, undefined);
  const heldBefore = memoryOf([gate.pid()]);

  const opened = await openAll(tokens, streams);
  say(`${streams} streams opened in ${opened.toFixed(1)} s`);
  const during = await gate.sample();
  await gate.sample();
  const each = (memoryOf([gate.pid()]) - heldBefore) / streams;

  const from = crowd.says.ticks;
  let sent = 0;
  const tickAll = async (spread: number): Promise<void> => {
    // Ticks overlap, so the sum is read only after the wait.
    const count = await tick(sourcePort, '', spread);
    sent += count;
  };
  const beside = await timed(origin, own, seconds * 1000, () => tickAll(1000));
  const besideAtOnce = await timed(origin, own, seconds * 1000, () => tickAll(0));
  await crowd.until(({ ticks }) => ticks - from >= sent, 'every tick is heard');
  const heard = crowd.says.ticks - from;
  const sentToAll = sent;
  say(`${heard} of ${sent} ticks heard`);

  const ofRevoked = Math.ceil(streams / grants);
  const revoking = performance.now();
  await revoke(app, tokens[0] ?? '');
  await crowd.until(({ open }) => open <= streams - ofRevoked, 'the streams of the grant that was revoked end');
  const took = (performance.now() - revoking) / 1000;
  // Streams of other grants stay open and still receive events.
  const left = crowd.says.open;
  const rest = crowd.says.ticks;
  await tickAll(0);
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
    ...{ opened, ticks: { sent: sentToAll, heard }, each, alone, beside, besideAtOnce, revoked },
    storm: { streams: left, took: storm, beside: stormy },
    descriptors: { before, open: during.descriptors, after: after.descriptors },
    refused: crowd.says.refused,
  };
}

/**
 * Sends plain requests one after another, about forty per second, for `until` milliseconds or until it returns true. Calls
 * `tick`, if given, once per second.
 */
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
  const ticking: Promise<unknown>[] = [];
  while (!over()) {
    if (tick !== undefined && performance.now() - began > ticks * 1000) {
      ticks += 1;
      ticking.push(tick());
    }
    const asked = performance.now();
    const answer = await fetch(`${origin}/plain`, { headers: bearer(token) });
    await answer.arrayBuffer();
    taken.push(performance.now() - asked);
    if (answer.status !== 200) others.push(answer.status);
    await sleep(25);
  }
  await Promise.all(ticking);
  taken.sort((left, right) => left - right);
  const at = (share: number) => taken[Math.min(taken.length - 1, Math.floor(taken.length * share))] ?? 0;
  return { requests: taken.length, p50: at(0.5), p99: at(0.99), others };
}

/** The number of descriptors once it no longer changes. */
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
