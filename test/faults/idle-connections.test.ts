import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { commandOptions, MAIN, type runCommand } from '../support/command.ts';
import { watchProcess } from '../support/watched.ts';
import { freePort } from '../support/world.ts';
import { type GateProcess, gateProcess } from './gate-process.ts';

const DESCRIPTORS = 512;

/** Node raises its soft limit to the hard one. */
const limited: typeof runCommand = (args, environment = {}) => {
  const limit = `--nofile=${DESCRIPTORS}:${DESCRIPTORS}`;
  return watchProcess(spawn('prlimit', [limit, process.execPath, MAIN, ...args], commandOptions(environment)));
};

/** Each listener has its own bound, so that idle connections to one of them leave descriptors to the others. */
describe('a gate that may open 512 files', () => {
  let gate: GateProcess;
  const ports: Record<string, number> = {};
  beforeAll(async () => {
    for (const name of ['probes', 'decisions']) ports[name] = await freePort();
    gate = await gateProcess({
      run: limited,
      environment: {
        COURSEGATE__LISTEN__PROBES__PORT: String(ports.probes),
        COURSEGATE__LISTEN__DECISIONS__ADDRESS: `127.0.0.1:${ports.decisions}`,
        COURSEGATE__LISTEN__DECISIONS__SECRET: '{ env: DECISION_SECRET }',
        COURSEGATE__LISTEN__TRUSTED_PROXIES: '[loopback]',
        DECISION_SECRET: 'd'.repeat(32),
      },
    });
    await gate.start();
    ports.public = Number(new URL(gate.origin).port);
    ports.admin = Number(new URL(gate.admin).port);
  });
  afterAll(() => gate.close());

  it.each(['admin', 'probes', 'decisions', 'public'])(
    'answers while its %s listener is full of idle connections',
    async (name) => {
      let refused = 0;
      const idle: Socket[] = Array.from({ length: DESCRIPTORS + 100 }, () => connect(Number(ports[name]), '127.0.0.1'));
      for (const socket of idle)
        socket
          .on('error', () => undefined)
          .on('close', () => (refused += 1))
          .resume();
      await vi.waitUntil(() => refused > 100, { timeout: 20_000 });
      const held = idle.filter(({ destroyed, readyState }) => !destroyed && readyState === 'open').length;
      expect(held).toBeGreaterThan(0);

      const ask = (url: string) => fetch(url, { headers: { connection: 'close' } }).then(({ status }) => status);
      if (name !== 'public') {
        // Through the gate to its upstream and its store.
        expect(await ask(`${gate.origin}/login`)).toBe(200);
        expect(await ask(`${gate.origin}/.well-known/jwks.json`)).toBe(200);
      }
      if (name !== 'admin') expect(await ask(`${gate.admin}/readyz`)).toBe(200);
      if (name !== 'probes') expect(await ask(`http://127.0.0.1:${ports.probes}/readyz`)).toBe(200);
      if (name !== 'decisions') expect(await ask(`http://127.0.0.1:${ports.decisions}/`)).toBe(503);
      for (const socket of idle) socket.destroy();
      await vi.waitUntil(
        () =>
          ask(`${gate.origin}/login`).then(
            (status) => status === 200,
            () => false,
          ),
        { timeout: 10_000 },
      );
    },
  );
});
