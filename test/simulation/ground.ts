import { storedMembers } from '../../src/authorization-server/members.ts';
import { NO_OUTBOX } from '../../src/events/outbox.ts';
import { sealedStore } from '../../src/storage/seal.ts';
import type { RawStore } from '../../src/storage/store.ts';
import { APP, createApprovals, REDIRECT } from './approvals.ts';
import { createEntries } from './entries.ts';
import { openGate, SECRETS, type Seat, type SimulatedGate } from './gate.ts';
import type { Files } from './power-loss.ts';
import { createScheduler } from './scheduler.ts';
import { clockOf, currentWork, type Life, type Work, withinWork } from './simulated-time.ts';
import { imageOf } from './sqlite-file.ts';

/** What all schedules of a process begin with: a store with keys, members and an app, and gates that were opened before. */
export type Ground = Awaited<ReturnType<typeof layGround>>;

const START = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;

/** The time must be simulated already. */
export async function layGround() {
  const entries = createEntries(() => START / 1000);
  const raw = immediateStore(entries);
  const scheduler = createScheduler(START);
  const life: Life = { name: 'ground', place: -1, scheduler, alive: true, skew: 0 };
  const work: Work = { life, name: 'ground', role: 'ground', about: '', calls: 0 };
  const seatFor = (): Seat => ({
    life,
    raw,
    bus: { async announce() {} },
    async backend() {},
    audited() {},
    outbox: NO_OUTBOX,
  });

  const first = await withinWork(work, () => openGate(seatFor()));
  const store = sealedStore(raw, SECRETS);
  const members = storedMembers(store);
  for (const sub of ['M1', 'M2']) {
    await members.save({ sub, authTime: undefined, acr: undefined, version: undefined });
  }
  const client = {
    client_id: APP,
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: 'none',
    application_type: 'web',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
  const used = { kind: 'Client', id: APP };
  await store.commit([
    { op: 'put', entry: { ...used, payload: JSON.stringify(client), expiresAt: undefined, references: {} } },
    { op: 'consume', ...used },
  ]);
  const before = entries.copy();
  let image: Promise<Files> | undefined;
  let schedules = 0;
  const idle: SimulatedGate[] = [first];
  const keys = first.keyring.privateKeys();
  const approvals = await withinWork(work, async () => createApprovals(() => clockOf(currentWork().life), keys));
  approvals.seat.raw = raw;
  await withinWork(work, approvals.open);
  return {
    before,
    /** The files of a store in a file with the same content. */
    image: (): Promise<Files> => (image ??= withinWork(work, () => imageOf([...before.values()], () => START))),
    approvals,
    /** Each schedule begins on another day, at the same time: a gate that was used before never sees its clock go back. */
    nextStart(): number {
      schedules += 1;
      return START + schedules * DAY;
    },
    /** A gate that has done nothing yet, or nothing that is left. */
    takeGate: (): Promise<SimulatedGate> | SimulatedGate => idle.pop() ?? withinWork(work, () => openGate(seatFor())),
    giveBack(gate: SimulatedGate): void {
      Object.assign(gate.seat, seatFor());
      idle.push(gate);
    },
  };
}

function immediateStore(entries: ReturnType<typeof createEntries>): RawStore {
  return {
    get: async (...given) => entries.get(...given),
    findBy: async (...given) => entries.findBy(...given),
    count: async (...given) => entries.count(...given),
    scan: async (kinds) => ({ entries: entries.all(kinds), next: undefined, looked: 0, total: undefined }),
    commit: async (mutations) => entries.apply(mutations) !== undefined,
    sweep: async () => 0,
    compact: async () => 0,
    close: async () => {},
  };
}
