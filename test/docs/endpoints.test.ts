import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACTIONS, LOOKUPS } from '../../src/actions/table.ts';
import { loadConfig } from '../../src/config/load.ts';
import { parseMatch } from '../../src/config/schema.ts';
import { publicPaths } from '../../src/request/public-paths.ts';
import { startWorld, type World } from '../support/world.ts';
import { ROOT } from './support/pages.ts';

interface Row {
  readonly methods: readonly string[];
  readonly path: string;
}

/** The endpoints in the tables of both parts of the page: `GET POST /path`. */
function rowsOf(part: string): readonly Row[] {
  return [...part.matchAll(/^\| `((?:[A-Z]+ )+)(\/[^`]*)` \| \S/gm)].map(([, methods = '', path = '']) => ({
    methods: methods.trim().split(' '),
    path,
  }));
}

const [open = '', admin = ''] = readFileSync(join(ROOT, 'docs/reference/endpoints.md'), 'utf8').split(
  '\n## Admin listener\n',
);
const PUBLIC = rowsOf(open);
const ADMIN = rowsOf(admin);

/** Endpoints of other ways to sign in than the demo's, and of calls that members approve. */
const SOMETIMES = [
  '/oauth/sign-in',
  '/oauth/sign-in/callback/{id}',
  '/oauth/apps/approvals/{id}',
  '/oauth/apps/approvals/{id}/return',
];

/** The methods in `Allow` of the response to an unknown method. HEAD is implied by GET. */
async function allowed(url: string): Promise<readonly string[]> {
  const answer = await fetch(url.replace(/\{\w+\}/g, 'x'), { method: 'PATCH', redirect: 'manual' });
  await answer.arrayBuffer();
  if (answer.status !== 405) return [`status ${answer.status}`];
  return (answer.headers.get('allow') ?? '').split(', ').filter((method) => method !== 'HEAD');
}

describe('docs/reference/endpoints.md', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
  });
  afterAll(() => world?.close());

  it('lists what a running gate serves, with the methods', async () => {
    const served = async (base: string, rows: readonly Row[]) =>
      Promise.all(rows.map(async ({ path }) => ({ methods: await allowed(base + path), path })));
    const shown = PUBLIC.filter(({ path }) => !SOMETIMES.includes(path));
    expect(shown.length).toBeGreaterThan(20);
    expect(ADMIN.length).toBeGreaterThan(20);
    expect(await served(world.origin, shown)).toEqual(shown);
    expect(await served(world.admin, ADMIN)).toEqual(ADMIN);
  });

  it('lists every command of the admin listener', () => {
    const commands = [...LOOKUPS, ...ACTIONS].flatMap(({ path }) => path?.replace(/:(\w+)/g, '{$1}') ?? []);
    expect(commands.length).toBeGreaterThan(15);
    expect(commands.filter((command) => !ADMIN.some(({ path }) => path === command))).toEqual([]);
  });

  it('lists every path that the gate reserves', async () => {
    const { config } = await loadConfig({
      file: join(ROOT, 'config/coursegate.yaml'),
      environment: { COURSEGATE_PROFILE: 'A' },
    });
    const operators = new Set(config.routes.map(({ match }) => parseMatch(match).pattern));
    const own = publicPaths(config).filter((pattern) => !operators.has(pattern));
    expect(own.length).toBeGreaterThan(20);
    const listed = PUBLIC.map(({ path }) => path.replace(/\{\w+\}/g, '*'));
    const missing = own.filter((pattern) => {
      const under = pattern.replace(/\*\*$/, '');
      return !listed.some((path) => path === pattern || (under !== pattern && path.startsWith(under)));
    });
    expect(missing).toEqual([]);
  });
});
