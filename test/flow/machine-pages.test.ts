import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { type RawAnswer, rawRequest } from '../support/raw.ts';
import { startWorld, type World } from '../support/world.ts';

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const OPENED = { accept: HTML, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'none' };
const ASSISTANTS = ['/mcp', '/mcp/', '/mcp/member', '/mcp/member/'];

/** What programs send: curl, fetch in Node.js and in pages, Java, agents, and a script that copies a browser's Accept. */
const PROGRAMS: readonly Readonly<Record<string, string>>[] = [
  {},
  { accept: '*/*' },
  { accept: 'application/json' },
  { accept: '*/*', 'sec-fetch-mode': 'cors' },
  { accept: 'text/html', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-origin' },
  { accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' },
  { accept: 'text/markdown, text/html, */*' },
  { accept: HTML },
  { accept: 'application/json, text/html', 'sec-fetch-mode': 'navigate' },
  { accept: '*/*', 'sec-fetch-mode': 'navigate' },
  { accept: HTML, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
];

describe.each(['A', 'B'])('an address for programs, in Profile %s', (profile) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile });
  });
  afterAll(() => world.close());

  const ask = (path: string, headers: Readonly<Record<string, string>> = OPENED, method = 'GET') =>
    rawRequest(world.origin, { path, method, headers });
  const expectPage = ({ status, headers, text }: RawAnswer, expected: { status: number; id: string }) => {
    expect({ status, type: headers['content-type'] }).toEqual({
      status: expected.status,
      type: 'text/html; charset=utf-8',
    });
    expect(headers.vary).toBe('Accept, Sec-Fetch-Mode, Accept-Language');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    if (status === 200) expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(text).toContain(`<main id="${expected.id}">`);
  };
  /** Every program, and a browser that asks for the raw form, gets what a request without Accept gets. */
  const expectForPrograms = async (path: string, plain: RawAnswer) => {
    expect(sameFor(await ask(`${path}?raw`))).toEqual(sameFor(plain));
    for (const headers of PROGRAMS)
      expect({ headers, ...sameFor(await ask(path, headers)) }).toEqual({ headers, ...sameFor(plain) });
  };
  const codes = (text: string) => [...text.matchAll(/<code dir="ltr">([^<]*)<\/code>/g)].map(([, code]) => code);

  describe('for assistants', () => {
    it.each(ASSISTANTS)('%s says what it is, and how to add it', async (path) => {
      const answer = await ask(path);
      expectPage(answer, { status: 200, id: 'mcp' });
      expect(answer.text).toContain('<h1>Use <bdi>Harbour Lane School</bdi> with an AI assistant</h1>');
      const url = `${world.origin}/mcp/member`;
      const open = `${world.origin}/mcp`;
      const commands = [
        url,
        `claude mcp add --transport http localhost ${url}`,
        `codex mcp add localhost --url ${url}`,
        `code --add-mcp &#39;{&quot;name&quot;:&quot;localhost&quot;,&quot;type&quot;:&quot;http&quot;,&quot;url&quot;:&quot;${url}&quot;}&#39;`,
        `{&quot;mcpServers&quot;:{&quot;localhost&quot;:{&quot;url&quot;:&quot;${url}&quot;}}}`,
      ];
      const isOpen = !path.startsWith('/mcp/member');
      expect(codes(answer.text)).toEqual(isOpen ? [open, ...commands] : [...commands, open]);
      expect(answer.text.includes('You have opened <code')).toBe(isOpen);
      for (const link of ['href="/auth.md"', 'href="/oauth/apps"']) expect(answer.text).toContain(link);
    });

    it('answers in the language of the browser, and one that says no mode', async () => {
      expect((await ask('/mcp', { ...OPENED, 'accept-language': 'es' })).text).toContain('con un asistente de IA</h1>');
      expectPage(await ask('/mcp', { accept: HTML }), { status: 200, id: 'mcp' });
    });

    it.each(
      [...PROGRAMS.filter((headers) => !('accept' in headers) || 'sec-fetch-mode' in headers), 'text/event-stream']
        .map((one) => (typeof one === 'string' ? { accept: one } : one))
        .concat({ accept: 'text/html, text/event-stream' }, { accept: 'application/json;q=0.5, text/html' }),
    )('a program that sends %o is told to POST', async (headers) => {
      for (const path of ASSISTANTS) {
        const answer = await ask(path, headers);
        expect([path, answer.status, answer.headers.allow]).toEqual([path, 405, 'POST']);
        expect(answer.headers['content-type']).toBe('application/json');
        expect(answer.headers.vary).toBe('Accept, Sec-Fetch-Mode');
        expect(JSON.parse(answer.text)).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_000 } });
      }
    });

    it.each(['POST', 'DELETE', 'PUT'])('%s gets no page', async (method) => {
      const answer = await ask('/mcp/member', OPENED, method);
      expect(answer.status).toBe(method === 'POST' ? 401 : 405);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(answer.headers.vary).toBeUndefined();
    });

    it('answers HEAD as GET, without a body', async () => {
      const head = await ask('/mcp', OPENED, 'HEAD');
      expect([head.status, head.text]).toEqual([200, '']);
    });
  });

  it.each([
    {
      path: '/openapi.json',
      type: 'application/json',
      shown: ['<code><b>POST</b> /api/oauth/token</code>', 'Token with <code>openid</code>'],
    },
    {
      path: '/auth.md',
      type: 'text/markdown; charset=utf-8',
      shown: [
        '<h2>1. Discover</h2>',
        '<th scope="col">Document</th>',
        '<pre><code>POST http://',
        '<strong>Client ID metadata document.</strong>',
      ],
    },
  ])('$path is readable in a browser, and one click from its raw form', async ({ path, type, shown }) => {
    const page = await ask(path);
    expectPage(page, { status: 200, id: 'document' });
    for (const part of shown) expect(page.text).toContain(part);
    // What is left of the syntax of Markdown, outside of code.
    expect(page.text.replace(/<pre>.*?<\/pre>|<code>.*?<\/code>/gs, '')).not.toMatch(/`|\*\*|\| |^#/m);
    expect(page.text).toContain('<a href="?raw">Show the source text</a>');
    expect(page.headers.etag).toBeUndefined();

    const head = await ask(path, OPENED, 'HEAD');
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', page.headers['content-length']]);
    const plain = await ask(path, {});
    expect(plain.headers).toMatchObject({ 'content-type': type, vary: 'Accept, Sec-Fetch-Mode' });
    expect((await ask(path, { 'if-none-match': String(plain.headers.etag) })).headers.vary).toBe(
      'Accept, Sec-Fetch-Mode',
    );
    expect(await ask(path, { ...OPENED, 'if-none-match': String(plain.headers.etag) })).toMatchObject({ status: 200 });
    await expectForPrograms(path, plain);
  });

  const refused = [
    { path: '/api/oauth/userinfo', status: 401 },
    ...['/api/oauth/token', '/api/oauth/register', '/api/oauth/revoke'].map((path) => ({ path, status: 405 })),
    ...(profile === 'A' ? [{ path: '/api/v1/courses', status: 401 }] : []),
  ];
  it.each(refused)('$path says that it is for apps, with a $status', async ({ path, status }) => {
    const plain = await ask(path, {});
    const page = await ask(path);
    expectPage(page, { status, id: 'machine' });
    expect(page.text).toContain('<h1>This address is for apps</h1>');
    for (const link of ['href="/auth.md"', 'href="/oauth/apps"']) expect(page.text).toContain(link);
    for (const name of ['www-authenticate', 'allow', 'retry-after'])
      expect({ name, value: page.headers[name] }).toEqual({ name, value: plain.headers[name] });
    expect(await ask(path, { ...OPENED, 'accept-language': 'ar' })).toMatchObject({
      text: expect.stringContaining('dir="rtl"'),
    });

    expect(plain).toMatchObject({ status, headers: { 'content-type': 'application/json' } });
    const head = await ask(path, OPENED, 'HEAD');
    expect([head.status, head.text]).toEqual([status, '']);
    await expectForPrograms(path, plain);
  });

  it.runIf(profile === 'A')('/account/graphql has a query to copy, which works', async () => {
    const page = await ask('/account/graphql');
    expectPage(page, { status: 200, id: 'machine' });
    const [query = '', command = ''] = codes(page.text);
    expect(query).toMatch(/viewer \{\s+id\s+email\s+enrolledCourses\(first: 10\)/);
    expect(command).toContain(`curl ${world.origin}/account/graphql`);
    expect(page.text).not.toContain('GraphiQL');
    const { access_token: access } = await connect(await registerApp(world.origin));
    const answer = await fetch(`${world.origin}/account/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    expect(await answer.json()).toMatchObject({ data: { viewer: { enrolledCourses: { nodes: expect.anything() } } } });

    const plain = await ask('/account/graphql', {});
    expect(plain).toMatchObject({ status: 405, headers: { allow: 'POST', vary: 'Accept, Sec-Fetch-Mode' } });
    expect(plain.text).toContain('urql: preferGetMethod: false');
    await expectForPrograms('/account/graphql', plain);
  });

  it.runIf(profile === 'B')('serves what is open to everyone as before', async () => {
    expect(await ask('/api/v1/courses')).toMatchObject({ status: 200 });
    expect((await ask('/account/graphql')).text).not.toContain('<main id="machine">');
  });
});

/** An answer without what differs each time. */
function sameFor({ status, headers: { date: _, 'x-request-id': id, ...fields }, text }: RawAnswer): object {
  return { status, fields, text: text.replaceAll(String(id), 'ID').replace(/"traceId":"\w+"/, '') };
}

describe('without tools', () => {
  it('the addresses belong to the site', async () => {
    const world = await startWorld({ profile: 'A', adjust: ({ mcp: _, ...config }) => config });
    try {
      const answer = await rawRequest(world.origin, { path: '/mcp', headers: OPENED });
      expect(answer.status).toBe(404);
      expect(answer.text).toContain('<main id="school-message">');
    } finally {
      await world.close();
    }
  });
});

describe('where only the documents of a file are answered', () => {
  it('/account/graphql has no query to copy', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-documents-'));
    const file = join(folder, 'documents.json');
    writeFileSync(file, JSON.stringify({ mine: '{ viewer { id } }' }));
    const world = await startWorld({ profile: 'A', overrides: { account: { documents: { file, only: true } } } });
    try {
      const { status, text } = await rawRequest(world.origin, { path: '/account/graphql', headers: OPENED });
      expect(status).toBe(200);
      expect(text).toContain('<main id="machine">');
      expect(text).not.toMatch(/viewer|curl/);
    } finally {
      await world.close();
      rmSync(folder, { recursive: true });
    }
  });
});
