import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../support/world.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const ADDRESSES = ['/mcp', '/mcp/', '/mcp/member', '/mcp/member/'];

describe.each(['A', 'B'])('the addresses for assistants in a browser, in Profile %s', (profile) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile });
  });
  afterAll(() => world.close());

  const open = (path: string, accept: string | undefined, init: RequestInit = {}) =>
    fetch(world.origin + path, { ...init, headers: { ...(accept === undefined ? {} : { accept }), ...init.headers } });

  it.each(ADDRESSES)('%s says what it is, and how to add it', async (path) => {
    const answer = await open(path, BROWSER);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('vary')).toBe('Accept, Accept-Language');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    const text = await answer.text();
    expect(text).toContain('<main id="mcp">');
    expect(text).toContain('<h1>Use <bdi>Harbour Lane School</bdi> with an AI assistant</h1>');
    const commands = [...text.matchAll(/<code dir="ltr">([^<]*)<\/code>/g)].map(([, code]) => code);
    const url = `${world.origin}/mcp/member`;
    expect(commands).toEqual([
      url,
      `claude mcp add --transport http localhost ${url}`,
      `codex mcp add localhost --url ${url}`,
      `code --add-mcp &#39;{&quot;name&quot;:&quot;localhost&quot;,&quot;type&quot;:&quot;http&quot;,&quot;url&quot;:&quot;${url}&quot;}&#39;`,
      `{&quot;mcpServers&quot;:{&quot;localhost&quot;:{&quot;url&quot;:&quot;${url}&quot;}}}`,
      `${world.origin}/mcp`,
    ]);
    for (const link of ['href="/auth.md"', 'href="/oauth/apps"']) expect(text).toContain(link);
  });

  it('answers in the language of the browser', async () => {
    const answer = await open('/mcp', BROWSER, { headers: { 'accept-language': 'es' } });
    expect(await answer.text()).toContain('con un asistente de IA</h1>');
  });

  it.each([
    undefined,
    '*/*',
    'text/event-stream',
    'application/json',
    'application/json, text/event-stream',
    'text/html, text/event-stream',
    'application/json;q=0.5, text/html',
  ])('a program that accepts %s is told to POST', async (accept) => {
    for (const path of ADDRESSES) {
      const answer = await open(path, accept);
      expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 405, 'POST']);
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(answer.headers.get('vary')).toBe('Accept');
      expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_000 } });
    }
  });

  it.each(['POST', 'DELETE', 'PUT'])('%s gets no page', async (method) => {
    const answer = await open('/mcp/member', BROWSER, { method });
    expect(answer.status).toBe(method === 'POST' ? 401 : 405);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('vary')).toBeNull();
  });

  it('HEAD is answered as GET, without a body', async () => {
    const answer = await open('/mcp', BROWSER, { method: 'HEAD' });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
  });
});

describe('without tools', () => {
  it('the addresses belong to the site', async () => {
    const world = await startWorld({ profile: 'A', adjust: ({ mcp: _, ...config }) => config });
    try {
      const answer = await fetch(`${world.origin}/mcp`, { headers: { accept: BROWSER } });
      expect(answer.status).toBe(404);
      expect(await answer.text()).toContain('<main id="school-message">');
    } finally {
      await world.close();
    }
  });
});
