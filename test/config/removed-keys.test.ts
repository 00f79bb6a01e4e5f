import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { REMOVED_KEYS } from '../../src/config/removed-keys.ts';
import { merge } from '../../src/config/tree.ts';
import { mistakes, SMALL } from './fixture.ts';

/** The settings around a path that the schema needs to reach the key. */
const AROUND: Readonly<Record<string, object>> = {
  'store.sentinels': { store: { kind: 'redis' } },
  'store.cluster': { store: { kind: 'redis' } },
  'login.recheck': { login: { recheck: { upstream: 'school', path: '/m/{member.id}' } } },
  'login.attempts': { login: { kind: 'webhook' } },
  'login.hash': { login: { kind: 'database' } },
  'login.lockedOut': { login: { kind: 'form' } },
  'login.jwt': { login: { kind: 'header' } },
  'login.providers': { login: { kind: 'oidc' } },
  'upstreams.*.credential': { upstreams: { school: { credential: { kind: 'token' } } } },
};

/** SMALL with the key at its path. */
function withKey(path: string): string {
  const around = Object.entries(AROUND).find(([start]) => path.startsWith(start))?.[1];
  const tree = merge(parse(SMALL), around) as Record<string, unknown>;
  const steps = path.replaceAll('*', 'school').replaceAll('[]', '.0').split('.');
  steps.reduce<Record<string, unknown>>((at, step, index) => {
    const last = index === steps.length - 1;
    at[step] ??= last ? 'x' : steps[index + 1] === '0' ? [] : {};
    return at[step] as Record<string, unknown>;
  }, tree);
  return stringify(tree);
}

describe('a removed key', () => {
  it.each(REMOVED_KEYS.map((one) => [one.path, one] as const))(
    '%s is named, with what to do instead',
    async (path, one) => {
      const named = path.replaceAll('*', 'school').replaceAll('[]', '[0]');
      const message = `${named}: was removed in ${one.since}, take it out. ${one.instead}`;
      expect((await mistakes(withKey(path))).join('\n')).toContain(message);
      expect(one.instead).toMatch(/^[A-Z`/0-9][^\n]{8,}[^.]$/);
    },
  );

  it('is also named if a variable sets it', async () => {
    const environment = {
      COURSEGATE__LISTEN__HEAD_TIMEOUT: '3s',
      COURSEGATE__MCP__LIMITS__MEMBER: 'unlimited',
      COURSEGATE__PAGES__LOGO__FILE: 'logo.svg',
    };
    const all = (await mistakes(SMALL, { environment })).join('\n');
    expect(all).toContain('COURSEGATE__PAGES__LOGO__FILE  was removed in');
    expect(all).toContain('COURSEGATE__LISTEN__HEAD_TIMEOUT  was removed in');
    expect(all).toContain('COURSEGATE__MCP__LIMITS__MEMBER  was removed in');
  });

  it('is listed in the changelog', () => {
    const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
    expect(REMOVED_KEYS.map(({ path }) => path).filter((path) => !changelog.includes(`\`${path}\``))).toEqual([]);
  });
});
