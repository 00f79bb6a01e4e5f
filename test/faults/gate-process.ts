import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSchool } from '../../src/demo/school.ts';
import { type Command, runCommand } from '../support/command.ts';
import { freePort } from '../support/world.ts';

const CONFIG = fileURLToPath(new URL('../../config/coursegate.yaml', import.meta.url));

/** The real gate as a process of its own, in front of the demo's school, on a store that outlives it. */
export interface GateProcess {
  readonly origin: string;
  readonly data: string;
  start(): Promise<void>;
  /** SIGKILL, now. Resolves once the process is gone. */
  kill(): Promise<void>;
  /** What the gate that runs now has written to its log. */
  readonly log: () => string;
  close(): Promise<void>;
}

export async function gateProcess(
  options: { data?: string; environment?: Readonly<Record<string, string>> } = {},
): Promise<GateProcess> {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const data = options.data ?? mkdtempSync(join(tmpdir(), 'coursegate-faults-'));
  const school = await startSchool({
    ports: { school: 0, progress: 0, events: 0 },
    gate: () => ({ issuer: origin, jwksUrl: `${origin}/.well-known/jwks.json` }),
  });
  let command: Command | undefined;
  const kill = async () => {
    command?.signal('SIGKILL');
    await command?.exited;
    command = undefined;
  };
  return {
    origin,
    data,
    kill,
    log: () => command?.stderr() ?? '',
    async start() {
      command = runCommand(['serve', '--config', CONFIG], {
        PORT: String(port),
        ADMIN_PORT: '0',
        COURSEGATE_PROFILE: 'A',
        COURSEGATE_DATA: data,
        COURSEGATE__UPSTREAMS__SCHOOL__URL: school.urls.school,
        COURSEGATE__UPSTREAMS__PROGRESS__URL: school.urls.progress,
        COURSEGATE__UPSTREAMS__EVENTS__URL: school.urls.events,
        ...options.environment,
      });
      await command.line(/^coursegate ready/);
    },
    async close() {
      await kill();
      await school.close();
      if (options.data === undefined) rmSync(data, { recursive: true, force: true });
    },
  };
}
