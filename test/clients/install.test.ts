import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { install, undownloaded } from './harness/install.ts';

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
});
