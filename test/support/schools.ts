import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { createLog, type Log } from '../../src/operations/log.ts';
import { type Gateway, type GatewayOptions, startGateway } from '../../src/process/gateway.ts';
import type { Reload } from '../../src/process/reload.ts';
import { startSchoolWithEcho } from './echo-socket.ts';
import { startRecordingUpstream } from './recording-upstream.ts';
import { freePort } from './world.ts';

type Settings = Readonly<Record<string, unknown>>;

export interface Schools {
  readonly port: number;
  readonly admin: string;
  /** Where the schools' files and the main file are. */
  readonly folder: string;
  readonly main: string;
  /** The addresses of the backend. */
  readonly upstreams: Readonly<Record<'school' | 'progress' | 'events' | 'echo', string>>;
  /** Writes the file of a school, without a reload; undefined removes it. */
  write(name: string, settings: Settings | string | undefined): void;
  /** Changes the main file, without a reload. */
  writeMain(settings: Settings): void;
  reload(): Promise<Reload>;
  restart(clock?: () => number): Promise<void>;
  close(): Promise<void>;
}

export interface SchoolsOptions extends Pick<GatewayOptions, 'idle' | 'accessDescriptor' | 'documentNetwork'> {
  /** Their files by name, each extending a template with the demo's settings. */
  readonly schools: Readonly<Record<string, Settings | string>>;
  readonly main?: Settings;
  readonly environment?: Readonly<Record<string, string>>;
  readonly log?: Log;
  /** The addresses of the backend of other schools, to use it instead of a new one. */
  readonly upstreams?: Schools['upstreams'] | undefined;
}

const NO_LIMITS = { address: 'unlimited', member: 'unlimited', client: 'unlimited', attempts: 'unlimited' };
const DEMO = fileURLToPath(new URL('../../config/coursegate.yaml', import.meta.url));
const OF_PROCESS = ['origin', 'listen', 'store', 'log', 'profile'];

/** Many schools in one process, in front of one backend. What is fetched at `*.example` goes to their one listener. */
export async function startSchools(options: SchoolsOptions): Promise<Schools> {
  const {
    schools,
    main: ofProcess = {},
    environment = {},
    log = createLog(process.env.LOGS === undefined ? 'silent' : 'info', 2),
    ...parts
  } = options;
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-schools-'));
  const backend = await startSchoolWithEcho({ ports: { school: 0, progress: 0, events: 0 }, gate: () => undefined });
  // Answers with the header fields that it has received.
  const echo = await startRecordingUpstream((request, response) => {
    response.end(JSON.stringify(request.headers));
  });
  const upstreams = options.upstreams ?? { ...backend.urls, echo: echo.url };
  const write = (name: string, settings: unknown): void => {
    const file = join(folder, 'schools', `${name}.yaml`);
    if (settings === undefined) rmSync(file);
    else {
      const tree =
        typeof settings === 'string' ? settings : JSON.stringify({ extends: '../template.yaml', ...settings });
      writeFileSync(file, tree);
    }
  };
  mkdirSync(join(folder, 'schools'));
  writeFileSync(join(folder, 'template.yaml'), JSON.stringify(template(upstreams)));
  for (const [name, settings] of Object.entries(schools)) write(name, settings);
  const main = join(folder, 'main.yaml');
  const writeMain = ({ listen = {}, ...settings }: Settings): void =>
    writeFileSync(
      main,
      JSON.stringify({
        version: 1,
        schools: './schools/*.yaml',
        listen: { port, admin: { port: 0 }, ...(listen as object) },
        store: { kind: 'sqlite', path: './coursegate.db' },
        ...settings,
      }),
    );
  writeMain(ofProcess);

  const load = () => loadConfig({ file: main, environment });
  const start = async (clock: () => number): Promise<Gateway> =>
    startGateway({ ...parts, loaded: await load(), log, clock });
  let gateway = await start(Date.now);
  const before = getGlobalDispatcher();
  setGlobalDispatcher(toPort(port));
  return {
    port,
    get admin() {
      return `http://127.0.0.1:${gateway.adminPort}`;
    },
    folder,
    upstreams,
    main,
    write,
    writeMain,
    reload: () => gateway.reload(load),
    async restart(clock = Date.now) {
      await gateway.close(1);
      gateway = await start(clock);
    },
    async close() {
      await gateway.close(1);
      await backend.close();
      await echo.close();
      setGlobalDispatcher(before);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The demo's settings without those that differ between schools or are the process's. */
export function template(urls: Readonly<Record<'school' | 'progress' | 'events' | 'echo', string>>): Settings {
  const demo = parse(readFileSync(DEMO, 'utf8')) as Record<string, unknown>;
  for (const key of OF_PROCESS) delete demo[key];
  const upstreams = Object.fromEntries(Object.entries(urls).map(([name, url]) => [name, { url }]));
  demo.routes = [{ match: 'GET /api/v1/whoami', upstream: 'echo', scopes: [] }, ...(demo.routes as object[]).slice(1)];
  return { ...(absolute(demo) as Settings), upstreams, limits: NO_LIMITS };
}

/** Paths are relative to the file that has them. */
function absolute(value: unknown): unknown {
  if (typeof value === 'string' && /^(\.\.\/|tools\.yaml$|skills$|logo\.svg$)/.test(value))
    return join(dirname(DEMO), value);
  if (Array.isArray(value)) return value.map(absolute);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, absolute(one)]));
}

/** What a TLS proxy does: names below .example lead to this port, with Host as it was. All others are as usual. */
export function toPort(port: number): Agent {
  return new Agent({
    connect({ hostname, port: given }, callback) {
      const isOurs = hostname.endsWith('.example');
      const socket = connect(isOurs ? port : Number(given), isOurs ? '127.0.0.1' : hostname);
      socket.once('connect', () => callback(null, socket)).once('error', (error) => callback(error, null));
    },
  });
}
