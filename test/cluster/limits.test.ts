import { argon2Sync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GateProcess } from '../faults/gate-process.ts';
import { post as postSignIn } from '../login/support/sign-in.ts';
import { authorizationRequest, registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { clusterGate, keptConnection } from './support/cluster-gate.ts';

/** Of `right`, and as cheap as one can be. */
const SALT = Buffer.from('salt of sixteen.');
const TAG = argon2Sync('argon2id', {
  message: 'right',
  nonce: SALT,
  parallelism: 1,
  tagLength: 32,
  memory: 8,
  passes: 1,
});
const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
const HASH = `$argon2id$v=19$m=8,t=1,p=1$${base64(SALT)}$${base64(TAG)}`;

describe('the limits of a gate of two workers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-limits-'));
  const members = join(folder, 'members.yaml');
  writeFileSync(members, `members:\n  - { id: ann-1, login: ann, password: '${HASH}' }\n`);
  let gate: GateProcess;
  beforeAll(async () => {
    gate = await clusterGate({
      environment: {
        COURSEGATE__LOGIN: `{ kind: directory, file: ${members}, attempts: { account: { requests: 7, per: 1h }, address: unlimited } }`,
        COURSEGATE__LIMITS__ADDRESS: '{ requests: 200, per: 1h }',
      },
    });
    await gate.start();
  });
  afterAll(async () => {
    await gate.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('let sign-ins be tried as often as one process would, and not once more, however many come at once', async () => {
    const app = await registerApp(gate.origin);
    const tries = await Promise.all(
      Array.from({ length: 24 }, async () => {
        const browser = createBrowser();
        const page = await browser.open((await authorizationRequest(app)).url);
        return () => postSignIn(browser, page, { username: 'ann', password: 'wrong' }, { connection: 'close' });
      }),
    );
    const statuses = (await Promise.all(tries.map((attempt) => attempt()))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 400)).toHaveLength(7);
    expect(statuses.filter((status) => status === 429)).toHaveLength(17);
  });

  it('are not as many times as large as there are workers', async () => {
    let admitted = 0;
    for (let at = 0; at < 100; at += 1) {
      const some = Array.from({ length: 4 }, () => keptConnection(gate.origin));
      for (const { status } of await Promise.all(some.map((one) => one.get('/api/v1/whoami')))) {
        if (status === 401) admitted += 1;
      }
      for (const one of some) one.close();
    }
    // A tenth more, and what comes in one exchange; of two that know nothing of each other it would be twice as many.
    expect(admitted).toBeLessThanOrEqual(224);
  });
});
