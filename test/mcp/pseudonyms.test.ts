import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OLU } from '../support/member.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';
import { ask, askModern, call, tokenOf } from './support/mcp.ts';

const about = { title: 'T', description: 'D', get: { upstream: 'school', path: '/reviews' } };
const TOOLS = [
  { ...about, name: 'reviews' },
  { ...about, name: 'my_reviews', scopes: ['courses:read'] },
  {
    ...{ ...about, name: 'mapped_reviews', scopes: ['courses:read'] },
    result: { reviews: { each: '/items', writtenBy: '/author', text: '/text' } },
    output: { properties: { reviews: { type: 'array' } }, required: ['reviews'] },
  },
];
const ANSWER = {
  items: [
    {
      author: 'Ada Lovelace',
      text: 'Ada Lovelace liked it.',
      course: { name: 'Knots', teacher: { name: 'Olu', id: 7 } },
    },
    { author: '  Ada Lovelace ', text: 'Again.', course: { name: 'Knots', teacher: null } },
    { author: 'Ada\u0020Love\u006c\u0061ce', text: '', readers: ['Sam', 'Olu', ''] },
    { author: 'Zoe\u0308', text: '' },
    { author: 'Zo\u00eb', text: '' },
  ],
};
const PSEUDONYM = /^Member [0-9A-F]{8}$/;

interface Review {
  readonly author: string;
  readonly text: string;
  readonly course: { readonly name: string; readonly teacher: { readonly name: string; readonly id: number } };
  readonly readers: readonly string[];
}

describe('mcp.pseudonyms', () => {
  let world: World;
  let school: RecordingUpstream;
  let token: string;
  let sameMember: string;
  let otherMember: string;
  const overrides = (pseudonyms: readonly string[]) => ({
    upstreams: { school: { url: school.url } },
    mcp: {
      tools: TOOLS,
      resources: [{ uri: 'all://reviews', name: 'all', title: 'T', tool: 'reviews' }],
      prompts: [],
      pseudonyms,
    },
  });
  beforeAll(async () => {
    school = await startRecordingUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(ANSWER));
    });
    world = await startWorld({ profile: 'A' });
    token = await tokenOf(world, 'account:read courses:read');
    sameMember = await tokenOf(world, 'account:read courses:read');
    otherMember = await tokenOf(world, 'account:read courses:read', OLU);
    await world.restart(overrides(['author', 'teacher', 'readers', 'writtenBy']));
  });
  afterAll(async () => {
    await world.close();
    await school.close();
  });

  const reviews = async (name: string, by?: string): Promise<readonly Review[]> =>
    (await call(world, name, {}, { token: by })).body.result.structuredContent.items;

  it('replaces every text at or below the listed members, and nothing else', async () => {
    const [first, , third] = await reviews('my_reviews', token);
    expect(first?.author).toMatch(PSEUDONYM);
    expect(first?.course.teacher.name).toMatch(PSEUDONYM);
    expect([first?.course.teacher.id, first?.course.name, first?.text]).toEqual([7, 'Knots', 'Ada Lovelace liked it.']);
    expect(third?.readers).toEqual([expect.stringMatching(PSEUDONYM), first?.course.teacher.name, '']);
  });

  it('gives an app the same pseudonym for a name, in each call, tool and form of it, after a restart too', async () => {
    const items = await reviews('my_reviews', token);
    const authors = items.map(({ author }) => author);
    expect(new Set(authors.slice(0, 3)).size).toBe(1);
    expect(authors[3]).toBe(authors[4]);
    expect(authors[3]).not.toBe(authors[0]);
    const mapped = await askModern(world, 'tools/call', { name: 'mapped_reviews', arguments: {} }, { token });
    const { reviews: list } = mapped.body.result.structuredContent;
    expect(list.map(({ writtenBy }: { writtenBy: string }) => writtenBy)).toEqual(authors);
    await world.restart();
    expect(await reviews('my_reviews', token)).toEqual(items);
  });

  it('gives another app other ones, whichever member uses it, and callers without a token those of one app', async () => {
    const authors = async (by?: string) => (await reviews(by === undefined ? 'reviews' : 'my_reviews', by))[0]?.author;
    const all = [await authors(token), await authors(sameMember), await authors(otherMember), await authors()];
    expect(all.filter((name) => PSEUDONYM.test(name ?? ''))).toHaveLength(4);
    expect(new Set(all).size).toBe(4);
    expect(await authors()).toBe(all[3]);
  });

  it('also replaces them in the text of a result and in resources', async () => {
    const { content } = (await call(world, 'my_reviews', {}, { token })).body.result;
    expect(content[0].text).not.toMatch(/"author":"Ada|"Olu"/);
    const read = await ask(world, 'resources/read', { uri: 'all://reviews' });
    expect(read.body.result.contents[0].text).not.toMatch(/"author":"Ada|"Olu"/);
  });

  it('replaces nothing without the setting', async () => {
    await world.restart(overrides([]));
    expect((await reviews('my_reviews', token))[0]).toMatchObject({ author: 'Ada Lovelace' });
  });
});
