import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { install, installsOver, undownloaded, whileInstalling } from './harness/install.ts';

describe('installing the packages of a language', () => {
  let path: string;
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'coursegate-install-'));
  });
  afterEach(() => rmSync(path, { recursive: true }));

  it('leaves the reason when the registry cannot be reached, until it can be', async () => {
    const npm = 'npm install --registry http://127.0.0.1:1 --fetch-retries 0 --cache .cache left-pad';
    expect(await install({ path, install: npm })).toContain('ECONNREFUSED');
    expect(undownloaded({ path })).toContain('ECONNREFUSED');
    expect(await install({ path, install: 'true' })).toBeUndefined();
    expect(undownloaded({ path })).toBeUndefined();
  });

  it('fails for any other reason', async () => {
    await expect(install({ path, install: 'echo no such version >&2; exit 1' })).rejects.toThrow('no such version');
    expect(undownloaded({ path })).toBeUndefined();
  });

  it('is waited for by the tests that need them, until it has ended or failed', async () => {
    const order: string[] = [];
    const { promise: installed, reject: fail } = Promise.withResolvers<void>();
    const mark = join(path, 'installing');
    const installing = whileInstalling(() => installed, mark);
    const waiting = installsOver(mark).then(() => order.push('over'));
    await setTimeout(400);
    order.push('failed');
    fail(new Error('no such version'));
    await expect(installing).rejects.toThrow('no such version');
    await waiting;
    expect(order).toEqual(['failed', 'over']);
  });
});
