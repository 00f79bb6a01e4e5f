import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../support/world.ts';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));
const PARTS = ['react.js', 'react-dom.js', 'vendor.js', 'page.js', 'vendor.css', 'page.css'];

describe('GraphiQL on the admin listener', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
  });
  afterAll(() => world.close());

  it('is a page that may talk to the Account API and to nobody else, kept and framed by nobody', async () => {
    const response = await fetch(`${world.admin}/graphiql`);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    });
    expect(response.headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      'font-src data:',
      "img-src 'self' data:",
      `connect-src ${world.origin}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    const page = await response.text();
    expect(page).toContain(`data-endpoint="${world.origin}/account/graphql"`);
    expect(page).toContain('enrolledCourses(first: $first)');
    expect(page).not.toContain('does not tell its schema');
    const loaded = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address);
    expect(loaded.filter((address) => address !== 'data:,').sort()).toEqual(
      PARTS.map((part) => `/graphiql/${part}`).sort(),
    );
  });

  it.each(PARTS)('brings %s itself', async (part) => {
    const response = await fetch(`${world.admin}/graphiql/${part}`);
    expect(response.status).toBe(200);
    const type = part.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await response.text()).length).toBeGreaterThan(1000);
  });

  it('reads only, and has no other file', async () => {
    const posted = await fetch(`${world.admin}/graphiql`, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    for (const path of ['graphiql.ts', 'page.ts', '../admin.ts', '%2e%2e/admin.ts', '']) {
      expect((await fetch(`${world.admin}/graphiql/${path}`)).status).toBe(404);
    }
  });

  it('is not on the public listener', async () => {
    const response = await fetch(`${world.origin}/graphiql`);
    expect(await response.text()).not.toContain('data-endpoint');
  });
});

it('begins empty where the contract has other fields, and says where the schema is not told', async () => {
  const { graphiqlPage } = await import('../../src/operations/graphiql/page.ts');
  const endpoint = 'https://school.example/account/graphql';
  const page = graphiqlPage({ endpoint, query: undefined, introspection: false });
  expect(page).not.toContain('data-query');
  expect(page).toContain('does not tell its schema');
  expect(graphiqlPage({ endpoint, query: '"<x>', introspection: true })).toContain('data-query="&quot;&lt;x&gt;"');
});

it('reports that this gate does not publish its schema', async () => {
  const world = await startWorld({ profile: 'A', overrides: { account: { introspection: false } } });
  try {
    expect(await (await fetch(`${world.admin}/graphiql`)).text()).toContain('does not tell its schema');
  } finally {
    await world.close();
  }
});

it('is a 404 in plain text without an Account API, as in Profile B', async () => {
  const world = await startWorld({ profile: 'B' });
  try {
    for (const path of ['/graphiql', '/graphiql/vendor.js']) {
      const response = await fetch(world.admin + path);
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(await response.text()).toBe('GraphiQL is for the Account API, which this gate does not have.\n');
    }
  } finally {
    await world.close();
  }
});

it('says how to install it where its packages are left out', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-graphiql-'));
  try {
    mkdirSync(join(folder, 'operations'));
    cpSync(join(SRC, 'operations/graphiql'), join(folder, 'operations/graphiql'), { recursive: true });
    cpSync(join(SRC, 'http'), join(folder, 'http'), { recursive: true });
    const script = `
      const { graphiqlFile } = await import(${JSON.stringify(pathToFileURL(join(folder, 'operations/graphiql/graphiql.ts')))});
      const options = { endpoint: 'https://school.example/account/graphql', query: undefined, introspection: true };
      for (const path of ['/graphiql', '/graphiql/vendor.js', '/graphiql/page.js']) {
        const { status, contentType, text } = await graphiqlFile(path, options);
        console.log(JSON.stringify([status, contentType, text]));
      }`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    const said =
      '[404,"text/plain; charset=utf-8","GraphiQL is not installed here. Install it with:  npm ci --include=optional"]';
    expect(stdout.trim().split('\n')).toEqual([said, said, said]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
