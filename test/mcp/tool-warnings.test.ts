import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { checkInterfaces } from '../../src/generation/interfaces.ts';
import { load, mistakes, SMALL } from '../config/fixture.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const SECRET = 'x'.repeat(48);
const ENVIRONMENT = {
  ...{ COURSEGATE_SECRET: SECRET, COURSEGATE_KEY: SECRET, COURSEGATE_ADMIN_SECRET: SECRET, FRAPPE_KEY: SECRET },
  ...{ LEARNHOUSE_TOKEN: SECRET, LEARNHOUSE_DATABASE: 'postgres://u:p@127.0.0.1/db' },
};

interface Given {
  readonly name: string;
  readonly description?: string;
  readonly [key: string]: unknown;
}

const GET = { get: { upstream: 'school', path: '/x' } };
const POST = { route: 'POST /x', scopes: ['courses:write'] };
const tool = ({ name, ...more }: Given, at = 0) => ({
  ...{ name, title: 'T', description: `Subject${at} of chapter${at}` },
  ...('route' in more ? {} : GET),
  ...more,
});

async function warningsOf(...tools: readonly Given[]): Promise<readonly string[]> {
  const text = `${SMALL}routes: [{ match: "POST /x", upstream: school, scopes: [courses:write] }]
mcp: ${JSON.stringify({ tools: tools.map(tool) })}\n`;
  const found = await checkInterfaces(await load(text));
  return found.map(({ path, message }) => `${path}: ${message}`);
}

describe('check warns of', () => {
  it.each([
    ['get_course', 'get_courses'],
    ['get_course', 'getCourse'],
    ['get_my_course', 'get_course_my'],
    ['get_course', 'read_course'],
    ['delete_note', 'remove_notes'],
  ])('%s beside %s', async (first, second) => {
    const change = first.startsWith('delete') ? POST : {};
    expect(await warningsOf({ name: 'zz' }, { name: first, ...change }, { name: second, ...change })).toEqual([
      `mcp.tools[2].name: is a name that a model confuses with ${first}: say in what they differ`,
    ]);
  });

  it.each([
    ['Reads the orders of the member, newest first.', 'The orders of the member: reads newest first!'],
    ['Returns a course with its lessons, sections and price.', 'Gives a course with its lessons, sections and price.'],
    [
      'Returns a course with its lessons, sections and price.',
      'Returns a course with all its lessons, sections and price.',
    ],
  ])('the description %j beside %j', async (description, second) => {
    expect(await warningsOf({ name: 'course', description }, { name: 'more', description: second })).toEqual([
      'mcp.tools[1].description: is a description that a model confuses with that of course: say in what they differ',
    ]);
  });

  it('a name that says other than what the tool does, and a tool that does both', async () => {
    const input = { properties: { do: { enum: ['list_all', 'deleteOne'] } } };
    expect(
      await warningsOf({ name: 'delete_note' }, { name: 'list_notes', ...POST }, { name: 'notes', ...POST, input }),
    ).toEqual([
      expect.stringMatching(/^mcp\.tools\[0\]\.name: says that the tool changes something, but its request only reads/),
      expect.stringMatching(/^mcp\.tools\[1\]\.name: says that the tool reads, but its request can change something/),
      expect.stringMatching(/^mcp\.tools\[2\]\.name: is a tool that reads or changes something, as do says/),
    ]);
  });

  it('more than 40 tools for callers without a token, and for members', async () => {
    const many = (count: number, more: object = {}) =>
      Array.from({ length: count }, (_, at) => ({ name: `topic${at}x`, description: `Subject${at}y`, ...more }));
    expect(await warningsOf(...many(40))).toEqual([]);
    const members = 'mcp.tools: members are listed 41 tools, and assistants choose badly from more than 40';
    expect(await warningsOf(...many(40), { name: 'member', scopes: ['courses:read'] })).toEqual([
      expect.stringContaining(members),
    ]);
    expect(await warningsOf(...many(41), { name: 'member', scopes: ['courses:read'] })).toEqual([
      expect.stringContaining('mcp.tools: callers without a token are listed 41 tools'),
    ]);
  });
});

describe('check does not warn of', () => {
  it.each([
    ['a reader and a search', { name: 'search_courses' }, { name: 'get_course' }],
    ['a list and one', { name: 'list_courses' }, { name: 'get_course' }],
    [
      'descriptions that differ in what their names say',
      { name: 'list_orders', description: 'Lists the orders of the member with state, total and date.' },
      { name: 'list_invoices', description: 'Lists the invoices of the member with state, total and date.' },
    ],
    [
      'short descriptions that differ in a word',
      { name: 'one', description: 'All published courses.' },
      { name: 'two', description: 'All published events.' },
    ],
    ['a reader and a changer in two tools', { name: 'get_note' }, { name: 'delete_note', ...POST }],
    [
      'an argument that only says what to read',
      { name: 'notes', input: { properties: { what: { enum: ['list', 'get', 'created'] } } } },
      { name: 'other' },
    ],
  ] as const)('%s', async (_, first, second) => {
    expect(await warningsOf(first, second)).toEqual([]);
  });

  const EXAMPLES = globSync('{config,integrations/*}/coursegate.yaml', { cwd: ROOT }).filter((file) =>
    /^mcp:/m.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  it.each([...EXAMPLES])('the tools of %s', async (file) => {
    const loaded = await loadConfig({ file: join(ROOT, file), environment: ENVIRONMENT });
    expect(loaded.config.mcp?.tools.length).toBeGreaterThan(0);
    const found = await checkInterfaces(loaded);
    expect(found.filter(({ path }) => path.startsWith('mcp')).map(({ path, message }) => `${path} ${message}`)).toEqual(
      [],
    );
  });

  it('anything in the profiles of the demo', async () => {
    expect(EXAMPLES.length).toBeGreaterThan(3);
    for (const profile of ['A', 'B']) {
      const environment = { ...ENVIRONMENT, COURSEGATE_PROFILE: profile };
      const loaded = await loadConfig({ file: join(ROOT, 'config/coursegate.yaml'), environment });
      expect(await checkInterfaces(loaded)).toEqual([]);
    }
  });
});

it('a name of more than 64 characters is refused', async () => {
  const text = `${SMALL}mcp: ${JSON.stringify({ tools: [tool({ name: 'a'.repeat(65) })] })}\n`;
  expect(await mistakes(text)).toEqual([expect.stringContaining('mcp.tools[0].name: must be at most 64 letters')]);
});
