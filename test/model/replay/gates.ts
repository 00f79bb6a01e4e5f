import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../../src/config/load.ts';
import { createLog } from '../../../src/operations/log.ts';
import type { School } from '../../../src/operator/demo/school.ts';
import { type Gateway, startGateway } from '../../../src/process/gateway.ts';
import { busListeners, type RevocationBus } from '../../../src/storage/bus.ts';
import type { OpenedKind } from '../../../src/storage/opened-store.ts';
import type { RawStore } from '../../../src/storage/store.ts';
import { COMMAND_SECRET } from '../../support/commands.ts';
import { startSchoolWithEcho } from '../../support/echo-socket.ts';
import { freePort } from '../../support/world.ts';
import { type Copies, copies, SECRET, unavailable } from './copies.ts';
import { type Call, type HeldRequest, heldRequest } from './held-request.ts';

const CONFIG = fileURLToPath(new URL('../../../config/coursegate.yaml', import.meta.url));
const NO_LIMITS = { address: 'unlimited', member: 'unlimited', client: 'unlimited', attempts: 'unlimited' };

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A gate on the shared store. */
export interface ReplayedGate {
  readonly admin: () => string;
  /** Has a message of the bus arrived that it has not taken yet? */
  told: boolean;
  /** Takes it. */
  hear(): void;
  send(init: Sent): { readonly answer: Promise<Answer>; readonly abort: () => void };
  /** It loses its connections, its calls of the store, also those of `held`, and all that it remembers, and starts again. */
  crash(held: readonly HeldRequest[]): Promise<void>;
}

export interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly fields?: Readonly<Record<string, string>>;
}

export interface Gates {
  readonly origin: string;
  readonly copies: Copies;
  readonly gates: readonly [ReplayedGate, ReplayedGate];
  /** Which other gates the next messages of the bus do not reach. */
  unheard: boolean;
  close(): Promise<void>;
}

interface Opening {
  readonly raw: RawStore;
  readonly bus: RevocationBus;
}

/** What the store in memory is for each gate that starts. */
const openings = new Map<string, () => Opening>();

/** In place of `openMemory` of src/storage/memory/open.ts, whose stores are of one gate each. */
export function openShared(_config: unknown, { secret = '' }: { readonly secret: string | undefined }): OpenedKind {
  const opening = openings.get(secret);
  if (opening === undefined) throw new Error('no gate of a replay starts');
  return { ...opening(), secrets: [SECRET] };
}

/** Two gates on one store, with the demo's school. */
export async function startGates(clock: () => number): Promise<Gates> {
  const ports = [await freePort(), await freePort()] as const;
  const origin = `http://localhost:${ports[0]}`;
  const school = await startSchoolWithEcho({
    ports: { school: 0, progress: 0, events: 0 },
    gate: () => ({ issuer: origin, jwksUrl: `${origin}/.well-known/jwks.json` }),
    clock,
  });
  const shared: Shared = { origin, school, clock, copies: copies(clock), unheard: false, all: [] };
  const first = await startGate(shared, ports[0]);
  const gates = [first, await startGate(shared, ports[1])] as const;
  return {
    origin,
    copies: shared.copies,
    gates,
    get unheard() {
      return shared.unheard;
    },
    set unheard(value) {
      shared.unheard = value;
    },
    async close() {
      await Promise.all(gates.map((gate) => gate.close()));
      await school.close();
    },
  };
}

interface Shared {
  readonly origin: string;
  readonly school: School;
  readonly clock: () => number;
  readonly copies: Copies;
  unheard: boolean;
  readonly all: ReplayedGate[];
}

async function startGate(shared: Shared, port: number): Promise<ReplayedGate & { close(): Promise<void> }> {
  const name = `${SECRET}${port}`;
  const loaded = await load(shared, port, name);
  let agent = new Agent({ keepAlive: true });
  let life = { over: false };
  let listeners = busListeners();
  const start = (): Promise<Gateway> => {
    life = { over: false };
    listeners = busListeners();
    const [own, { subscribe }] = [life, listeners];
    const announce = async () => {
      if (!own.over && !shared.unheard) for (const other of shared.all) if (other !== gate) other.told = true;
    };
    openings.set(name, () => ({
      raw: storeOf(shared.copies, own),
      bus: { announce, subscribe, async close() {} },
    }));
    return startGateway({ loaded, log: createLog('silent', 2), clock: shared.clock });
  };
  let gateway: Gateway | undefined;
  const gate = {
    told: false,
    admin: () => `http://127.0.0.1:${gateway?.adminPort}`,
    hear() {
      gate.told = false;
      listeners.tellAll();
    },
    send: (sent: Sent) => send(agent, port, new URL(shared.origin).host, sent),
    async crash(held: readonly HeldRequest[]) {
      life.over = true;
      for (const one of held) one.fail();
      agent.destroy();
      agent = new Agent({ keepAlive: true });
      await gateway?.close(0);
      gate.told = false;
      gateway = await start();
    },
    async close() {
      agent.destroy();
      await gateway?.close(0);
    },
  };
  gateway = await start();
  shared.all.push(gate);
  return gate;
}

function load({ origin, school }: Shared, port: number, secret: string) {
  return loadConfig({
    file: CONFIG,
    environment: {
      COURSEGATE_PROFILE: 'B',
      COURSEGATE__ORIGIN: origin,
      PORT: String(port),
      ADMIN_PORT: '0',
      COURSEGATE_DATA: tmpdir(),
      COMMAND_SECRET,
      STORE_SECRET: secret,
    },
    overrides: {
      upstreams: {
        school: { url: school.urls.school },
        progress: { url: school.urls.progress },
        events: { url: school.urls.events },
      },
      limits: NO_LIMITS,
      store: { kind: 'memory' },
      secret: { env: 'STORE_SECRET' },
      admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } },
    },
  });
}

/** The store as one gate has it. Requests that are held wait in it. A gate that is over gets no answers any more. */
function storeOf(copies: Copies, life: { readonly over: boolean }): RawStore {
  const called = async <T>(call: Call, run: () => Promise<T>): Promise<T> => {
    const request = heldRequest();
    const wait = async (when: 'before' | 'after', result?: T) => {
      if (life.over) throw unavailable();
      if (request?.stops(call, when, result)) await request.wait({ call, when, written: copies.written() });
      if (life.over) throw unavailable();
    };
    if (request !== undefined) request.calls += 1;
    await wait('before');
    const result = await run();
    await wait('after', result);
    return result;
  };
  return {
    get: (kind, id) => called({ op: 'get', kind }, () => copies.raw().get(kind, id)),
    findBy: (kind, ...rest) => called({ op: 'findBy', kind }, () => copies.raw().findBy(kind, ...rest)),
    commit: (mutations, priority) => called({ op: 'commit', mutations }, () => copies.commit(mutations, priority)),
    count: (...given) => copies.raw().count(...given),
    scan: (...given) => copies.raw().scan(...given),
    sweep: (limit) => copies.raw().sweep(limit),
    compact: (limit) => copies.raw().compact(limit),
    async close() {},
  };
}

function send(agent: Agent, port: number, host: string, { method, path, form, fields }: Sent) {
  const body = form === undefined ? undefined : new URLSearchParams(form).toString();
  const headers = {
    host,
    ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    ...fields,
  };
  const options = {
    agent,
    host: '127.0.0.1',
    port,
    path,
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers,
  };
  const sent = request(options);
  const answer = new Promise<Answer>((resolve, reject) => {
    sent.once('error', reject);
    sent.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.once('error', reject);
      response.once('end', () => {
        const isJson = /json/.test(response.headers['content-type'] ?? '');
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: isJson ? JSON.parse(text) : { text },
        });
      });
    });
  });
  // Who aborts it does not wait for its answer.
  answer.catch(() => undefined);
  sent.end(body);
  return { answer, abort: () => void sent.destroy() };
}
