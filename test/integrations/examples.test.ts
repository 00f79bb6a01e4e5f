import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { PHP, phpPresent } from './moodle-site.ts';

const FOLDER = fileURLToPath(new URL('../../integrations/', import.meta.url));

const SECRETS = {
  COURSEGATE_BRIDGE_SECRET: 'k'.repeat(64),
  COURSEGATE_ADMIN_SECRET: 'a'.repeat(44),
  COURSEGATE_KEY: 'm'.repeat(64),
};

describe('the coursegate.yaml of a drop-in', () => {
  it.each([
    ['rails', false],
    ['laravel', false],
    ['express', false],
    ['spring', false],
  ])('of %s loads with its commented-out revocation lines enabled', async (name, recheck) => {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-example-'));
    try {
      const text = readFileSync(`${FOLDER}${name}/coursegate.yaml`, 'utf8');
      const file = join(folder, 'coursegate.yaml');
      writeFileSync(file, text.replace(/^( *)# ((?:admin|recheck): )/gm, '$1$2'));
      const { config, admin, recheckKey } = await loadConfig({ file, environment: SECRETS });
      expect(config.admin.hmac).toBeDefined();
      expect(admin.hmac).toBeDefined();
      expect('recheck' in config.login && config.login.recheck !== undefined).toBe(recheck);
      expect(recheckKey).toBe(recheck ? SECRETS.COURSEGATE_KEY : undefined);
      const asItIs = await loadConfig({ file: `${FOLDER}${name}/coursegate.yaml`, environment: SECRETS });
      expect(asItIs.config.admin.hmac).toBeUndefined();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each([
    ['wordpress', 'A'],
    ['moodle', 'A'],
    ['django', 'B'],
  ])('of %s loads as it is, with revocation switched on', async (name, expected) => {
    const { config, profile, recheckKey } = await loadConfig({
      file: `${FOLDER}${name}/coursegate.yaml`,
      environment: SECRETS,
    });
    expect([profile, config.account?.enabled === true]).toEqual([expected, expected === 'A']);
    expect(config.admin.hmac).toBeDefined();
    expect('recheck' in config.login && config.login.recheck?.version).toBe('/version');
    expect(recheckKey).toBe(SECRETS.COURSEGATE_KEY);
  });

  it.each(['django', 'rails', 'laravel', 'express', 'spring'])(
    'of %s loads without a warning, and sends assertions to a backend of that name, for addresses of apps only',
    async (name) => {
      const { config, warnings } = await loadConfig({ file: `${FOLDER}${name}/coursegate.yaml`, environment: SECRETS });
      expect(config.origin).toBe('https://school.example');
      expect(config.upstreams[name]?.identity).toEqual(['assertion']);
      expect(config.site?.upstream).toBe(name);
      expect(config.routes.every((route) => route.upstream === name && route.anonymous === 'refuse')).toBe(true);
      expect(config.routes.every(({ match }) => match.startsWith('GET /api/site/'))).toBe(true);
      expect(warnings).toEqual([]);
    },
  );
});

describe.skipIf(!phpPresent())('php -l', () => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.php'));

  it('checks every drop-in that is written in PHP', () => {
    const folders = new Set(files.map((path) => path.split('/')[0]));
    expect(folders).toEqual(new Set(['wordpress', 'moodle', 'laravel']));
    expect(files.length).toBeGreaterThan(20);
  });

  it.each(files)('accepts %s', (path) => {
    const { status, stdout, stderr } = spawnSync(PHP ?? '', ['-d', 'error_reporting=-1', '-l', join(FOLDER, path)], {
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr }).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^No syntax errors detected/),
    });
    expect(stdout + stderr).not.toMatch(/Deprecated|Warning/);
  });
});
