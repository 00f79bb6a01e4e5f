import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';
import { freePort } from '../support/world.ts';

const CONFIG = fileURLToPath(new URL('../../config/coursegate.yaml', import.meta.url));

describe('several workers that cannot start', { timeout: 180_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-start-'));
  let taken: Server;
  let port: number;
  beforeAll(async () => {
    port = await freePort();
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    await new Promise((resolve) => taken.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });
  const serve = (environment: Record<string, string>, ...more: string[]) =>
    runCommand(['serve', '--config', CONFIG, '--workers', '2', ...more], {
      PORT: '0',
      ADMIN_PORT: '0',
      COURSEGATE_DATA: join(folder, 'data'),
      ...environment,
    });

  it('end the gate, which says so once: a port that is taken', async () => {
    const gate = serve({ PORT: String(port) });
    expect(await gate.exited).toBe(1);
    expect(gate.stdout()).toBe('');
    expect(gate.stderr()).toMatch(
      new RegExp(`^Port ${port} is in use\\. [^\\n]+\\nTry: PORT=\\d+ coursegate serve --config \\S+\\n$`),
    );
  });

  it('end the gate with the place of a mistake that is only found while parts are built', async () => {
    const mapping = join(folder, 'wrong.graphql');
    writeFileSync(mapping, 'extend type Nobody { name: String }\n');
    const gate = serve({ COURSEGATE__ACCOUNT__MAPPINGS: mapping });
    expect(await gate.exited).toBe(78);
    expect(gate.stdout()).toBe('');
    expect(gate.stderr()).toContain('wrong.graphql:1:');
    expect(gate.stderr().match(/nothing was started/g)).toHaveLength(1);
  });

  it.each([
    ['a mistake in the file', { COURSEGATE__CLUSTER__WORKERS: 'many' }, 'must be auto, or a number from 1'],
    ['a store that is in one memory', { COURSEGATE__STORE: '{ kind: memory }' }, 'cannot be memory with `cluster`'],
  ])('are not even begun with %s', async (_, environment, words) => {
    const gate = runCommand(['serve', '--config', CONFIG], {
      COURSEGATE__CLUSTER__WORKERS: '2',
      COURSEGATE_DATA: folder,
      ...environment,
    });
    expect(await gate.exited).toBe(78);
    expect(gate.stderr()).toContain(words);
  });

  it.each(['0', '1.5', 'two'])('are refused as a number: %s', async (number) => {
    const gate = runCommand(['serve', '--config', CONFIG, '--workers', number]);
    expect(await gate.exited).toBe(64);
    expect(gate.stderr()).toContain('It takes a number of processes, or auto.');
  });
});
