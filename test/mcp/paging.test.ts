import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RecordingUpstream, type Script, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';
import { call, tokenOf } from './support/mcp.ts';

const about = { title: 'T', description: 'D' };
const integer = { type: 'integer' };

const TOOLS = [
  {
    ...about,
    name: 'list_things',
    input: { properties: { page: { type: ['integer', 'string'] }, of: { type: 'string' } } },
    get: { upstream: 'school', path: '/things', query: { page: '{page}', of: '{of}' } },
    result: { things: { each: '/data', id: '/id', words: '/words' }, total: '/total', nextPage: '/next' },
    output: {
      properties: {
        things: {
          type: 'array',
          items: { type: 'object', properties: { id: {}, words: {} }, required: ['id', 'words'] },
        },
        total: integer,
        nextPage: { type: ['integer', 'string', 'null'] },
      },
      required: ['things', 'nextPage'],
      additionalProperties: false,
    },
    paging: { of: 'things', argument: 'page', next: 'nextPage' },
  },
  {
    ...about,
    name: 'read_book',
    input: {
      properties: { at: { type: 'string', maxLength: 200, pattern: '^(part[.]|[a-z])' }, tiny: { type: 'boolean' } },
    },
    get: { upstream: 'school', path: '/book' },
    result: { text: '/text', title: '/title' },
    output: {
      properties: {
        text: { type: 'string' },
        title: { type: 'string' },
        rest: { type: 'string' },
        more: { type: 'boolean' },
      },
      required: ['text'],
    },
    paging: { of: 'text', argument: 'at', next: 'rest', more: 'more' },
  },
  {
    ...about,
    name: 'short_cursor',
    input: { properties: { at: { type: 'string', maxLength: 10 } } },
    get: { upstream: 'school', path: '/things' },
    result: { things: '/data' },
    paging: { of: 'things', argument: 'at', next: 'next' },
  },
];

const LIMIT = 4096;
const PER_PAGE = 50;
const things = Array.from({ length: 120 }, (_, at) => ({ id: `t-${at}`, words: `é${'w'.repeat((at * 37) % 400)}` }));

const answer = (value: unknown): Script => {
  return async (_request, response, { whole }) => {
    await whole;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
};
/** Paginates with pages that are longer than a result may be. */
const listing: Script = (request, response, recorded) => {
  const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page') ?? 1);
  const data = things.slice((page - 1) * PER_PAGE, page * PER_PAGE);
  const next = page * PER_PAGE < things.length ? page + 1 : null;
  return answer({ data, total: things.length, next })(request, response, recorded);
};

type Result = {
  readonly structuredContent?: Record<string, unknown>;
  readonly content: readonly { readonly text: string }[];
  readonly isError?: boolean;
};
type Ask = (name: string, args: Record<string, unknown>) => Promise<Result>;

let world: World;
let school: RecordingUpstream;
beforeAll(async () => {
  school = await startRecordingUpstream(listing);
  world = await startWorld({
    profile: 'A',
    overrides: {
      upstreams: { school: { url: school.url } },
      mcp: { tools: TOOLS, resources: [], prompts: [] },
      constants: { mcp: { largestResult: 4096, longestText: 500 } },
    },
  });
});
afterAll(async () => {
  await world.close();
  await school.close();
});

const sdk2 =
  (mode: 'auto' | 'legacy') =>
  async (use: (ask: Ask) => Promise<void>): Promise<void> => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${world.origin}/mcp`)));
    // The client validates results against the schemas it knows.
    await client.listTools();
    await use(async (name, args) => (await client.callTool({ name, arguments: args })) as unknown as Result);
    await client.close();
  };
const sdk1 = async (use: (ask: Ask) => Promise<void>): Promise<void> => {
  const client = new ClientV1({ name: 'test', version: '1' });
  await client.connect(new TransportV1(new URL(`${world.origin}/mcp`)) as never);
  await client.listTools();
  await use(async (name, args) => (await client.callTool({ name, arguments: args })) as unknown as Result);
  await client.close();
};
const ask: Ask = async (name, args) => (await call(world, name, args)).body.result;

describe('a list that is too long', () => {
  it.each([
    ['SDK v2, revision 2026-07-28', sdk2('auto')],
    ['SDK v2, the revisions before', sdk2('legacy')],
    ['SDK v1', sdk1],
  ])('can be read to its end by a client that follows the result: %s', async (_, using) => {
    school.script(listing);
    await using(async (through) => {
      const seen: unknown[] = [];
      const cut: string[] = [];
      let page: unknown;
      let turns = 0;
      do {
        const result = await through('list_things', { of: 'x', ...(page === undefined ? {} : { page }) });
        const { structuredContent = {}, content } = result;
        expect(result.isError).toBeFalsy();
        expect(Buffer.byteLength(JSON.stringify(structuredContent))).toBeLessThanOrEqual(LIMIT);
        expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent);
        expect(structuredContent.total).toBe(120);
        seen.push(...(structuredContent.things as unknown[]));
        page = structuredContent.nextPage;
        expect(content).toHaveLength(typeof page === 'string' ? 2 : 1);
        if (typeof page === 'string') {
          expect(content[1]?.text).toContain(`"${page}"`);
          cut.push(content[1]?.text ?? '');
        }
        turns += 1;
      } while (page !== null && turns < 100);
      expect(seen).toEqual(things);
      expect(cut[0]).toMatch(
        /^Cut here, .*: things 1 to \d+ of the 50 that were found\. For the rest call list_things /,
      );
      // Three pages of the school, each in as few parts as fit.
      expect(turns).toBeGreaterThan(6);
      expect(turns).toBeLessThan(20);
    });
  });

  it('has as many items as fit', async () => {
    school.script(listing);
    const first = await ask('list_things', {});
    const list = first.structuredContent?.things as unknown[];
    const withOneMore = { ...first.structuredContent, things: [...list, things[list.length]] };
    expect(Buffer.byteLength(JSON.stringify(withOneMore))).toBeGreaterThan(LIMIT - 200);
  });

  it('is shortened when its tool accepts no cursor of the gate', async () => {
    school.script(answer({ data: [{ id: '1', words: 'é' }, ...Array.from({ length: 20 }, () => 'long'.repeat(100))] }));
    const { structuredContent, content } = await ask('short_cursor', {});
    expect(structuredContent).not.toHaveProperty('next');
    expect(content[1]?.text).toMatch(/Left out: things after the first \d+ of 21\. The same call cannot continue/);
  });

  it('is an error when one item alone is too long, and cannot be shortened', async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`name-${at}`, 'x'.repeat(40)]));
    school.script(answer({ data: [{ id: many, words: 'x' }], total: 1, next: null }));
    const { isError, content } = await ask('list_things', {});
    expect([isError, content[0]?.text]).toEqual([true, expect.stringMatching(/too long/)]);
  });
});

describe('a paging cursor', () => {
  const cursor = async () => {
    school.script(listing);
    return String((await ask('list_things', { of: 'x' })).structuredContent?.nextPage);
  };

  it('is accepted only in the call that it was made for, and not if forged', async () => {
    const page = await cursor();
    const made = (value: unknown) => `part.${Buffer.from(JSON.stringify(value)).toString('base64url')}`;
    const [, of] = JSON.parse(Buffer.from(page.slice(5), 'base64url').toString());
    const before = school.requests.length;
    for (const args of [
      { page },
      { page, of: 'y' },
      { page: `${page}x`.replace('part.', 'part.x'), of: 'x' },
      { page: 'part.', of: 'x' },
      { page: made([-1, of]), of: 'x' },
      { page: made([1.5, of]), of: 'x' },
      { page: made(['1', of]), of: 'x' },
      { page: made([1e9, of]), of: 'x' },
      { page: made([1, of, { $ne: 1 }]), of: 'x' },
      { page: made({}), of: 'x' },
    ]) {
      const { isError, content } = await ask('list_things', args);
      expect([args, isError, content[0]?.text]).toEqual([
        args,
        true,
        'The arguments cannot be used: page is not from a result of this call.',
      ]);
    }
    expect(school.requests.length).toBe(before);
  });

  it('beyond the end is an error, and one made by the school is sent to the school', async () => {
    const page = await cursor();
    const [, of] = JSON.parse(Buffer.from(page.slice(5), 'base64url').toString());
    const late = `part.${Buffer.from(JSON.stringify([5000, of])).toString('base64url')}`;
    expect((await ask('list_things', { page: late, of: 'x' })).isError).toBe(true);
    await ask('list_things', { page: 'theirs', of: 'x' });
    expect(school.last().target).toBe('/things?page=theirs&of=x');
    const nested = `part.${Buffer.from(JSON.stringify([1, of, 'theirs'])).toString('base64url')}`;
    await ask('list_things', { page: nested, of: 'x' });
    expect(school.last().target).toBe('/things?page=theirs&of=x');
  });
});

describe('a text that is too long', () => {
  it('contains no inner cursor that its tool would refuse', async () => {
    school.script(answer({ text: 'a'.repeat(900) }));
    const at = String((await ask('read_book', {})).structuredContent?.rest);
    const place = JSON.parse(Buffer.from(at.slice(5), 'base64url').toString());
    const within = (cursor: string) => `part.${Buffer.from(JSON.stringify([...place, cursor])).toString('base64url')}`;
    expect((await ask('read_book', { at: within('theirs') })).isError).toBeUndefined();
    expect((await ask('read_book', { at: within('THEIRS') })).isError).toBe(true);
  });

  /** Reads a book to its end. */
  async function partsOf(text: string): Promise<string[]> {
    school.script(answer({ text, title: 'A book' }));
    const parts: string[] = [];
    let at: unknown;
    for (let turns = 0; turns < 20; turns += 1) {
      const { structuredContent, content } = await ask('read_book', at === undefined ? {} : { at });
      expect(structuredContent?.title).toBe('A book');
      const part = structuredContent?.text as string;
      expect(part.isWellFormed()).toBe(true);
      expect(part.length).toBeLessThanOrEqual(500);
      parts.push(part);
      at = structuredContent?.rest;
      expect(structuredContent?.more).toBe(at === undefined ? undefined : true);
      if (at === undefined) break;
      expect(content[1]?.text).toMatch(/: characters of text \d+ to \d+ of the \d+ that were found\./);
    }
    return parts;
  }

  it('can be read in parts that never start within a character or a comment', async () => {
    const hidden = `<!--${'h'.repeat(600)}-->`;
    const text = `${'a'.repeat(499)}👨${'b'.repeat(300)}${hidden}${'c'.repeat(700)}👨${'d'.repeat(5)}`;
    const parts = await partsOf(text);
    expect(parts.join('')).toBe(text.replace(hidden, ''));
    expect(parts.length).toBe(4);
  });

  it.each([
    ['a comment', '<!--', '-->'],
    ['a hidden element', '<p hidden>', '</p>'],
  ])('contains nothing of %s of 80 KB, and no tag joined from what surrounds it', async (_, start, end) => {
    // So many brackets are not parsed as Markdown.
    const brackets = '['.repeat(1100);
    const parts = await partsOf(`${brackets}<${start}${'h '.repeat(40_000)}${end}img src=http://e.test/p>`);
    expect(parts.join('')).toBe(`${brackets}< img src=http://e.test/p>`);
  });
});

describe('the lists of the demo', () => {
  it('lose nothing in small parts, with cursors of the Account API inside those of the gate', async () => {
    const demo = await startWorld({ profile: 'A' });
    try {
      const token = await tokenOf(demo);
      const lists = [
        ['list_my_orders', 'orders', { first: 7 }, 'after', 'nextCursor'],
        ['list_my_courses', 'courses', { first: 10 }, 'after', 'nextCursor'],
        ['list_my_events', 'registrations', {}, 'after', 'nextCursor'],
        ['continue_watching', 'courses', {}, 'after', 'nextCursor'],
        ['search_courses', 'courses', { query: 'a' }, 'page', 'nextPage'],
      ] as const;
      const walk = async ([name, key, args, argument, next]: (typeof lists)[number]) => {
        const all: unknown[] = [];
        let calls = 0;
        for (let at: unknown; at !== null && calls < 200; calls += 1) {
          const sent = { ...args, ...(at === undefined ? {} : { [argument]: at }) };
          const { result } = (await call(demo, name, sent, { token })).body;
          expect([name, result.isError, result.content[0].text]).toEqual([name, undefined, expect.any(String)]);
          all.push(...result.structuredContent[key]);
          const { more } = result.structuredContent;
          at = more === false ? null : (result.structuredContent[next] ?? null);
        }
        return { all, calls };
      };
      const whole = [];
      for (const list of lists) whole.push(await walk(list));
      await demo.restart({ constants: { mcp: { largestResult: 1024 } } });
      const inMore: string[] = [];
      for (const [number, list] of lists.entries()) {
        const { all, calls } = await walk(list);
        expect([list[0], all]).toEqual([list[0], whole[number]?.all]);
        if (calls > (whole[number]?.calls ?? 0)) inMore.push(list[0]);
      }
      expect(inMore).toEqual(expect.arrayContaining(['list_my_orders', 'continue_watching', 'search_courses']));
    } finally {
      await demo.close();
    }
  });
});
