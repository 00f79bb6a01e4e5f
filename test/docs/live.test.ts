import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { startWorld, type World } from '../support/world.ts';
import { addressesIn } from './support/addresses.ts';
import { ask, askedFor, differences } from './support/answers.ts';
import { programPresent } from './support/interpreters.ts';
import { isRun, runModule, runShell } from './support/live.ts';
import { type Block, placeOf } from './support/markdown.ts';
import { BLOCKS, PAGES } from './support/pages.ts';

const hasCurl = programPresent('curl', 'curl');

/** Timeout of one program on a busy machine. */
const LONGEST = 180_000;

const RUN = BLOCKS.filter(isRun);
const SESSIONS = PAGES.map(({ file }) => ({
  file,
  blocks: RUN.filter((block) => block.file === file && block.language === 'sh'),
})).filter(({ blocks }) => blocks.length > 0);
const MODULES = RUN.filter(({ language }) => language !== 'sh').map((block) => ({ place: placeOf(block), block }));
const ANSWERS = BLOCKS.flatMap((block) => {
  const asked = askedFor(block);
  return asked === undefined ? [] : [{ place: placeOf(block), block, asked }];
});

describe('the docs on the running demo', () => {
  let world: World;
  let environment: Readonly<Record<string, string>>;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
    const scope = 'openid profile email account:read account:write courses:read orders:read members:read';
    const { access_token: TOKEN } = await connect(await registerApp(world.origin), { parameters: { scope } });
    environment = { TOKEN, ADMIN: world.admin, ORIGIN: world.origin };
  });
  afterAll(() => world?.close());

  it.skipIf(!hasCurl).each(SESSIONS)(
    'have working commands in $file',
    async ({ blocks }) => {
      await runShell(blocks, world, environment);
    },
    LONGEST,
  );

  it.each(MODULES)(
    'have a working program at $place',
    async ({ block }) => {
      await runModule(block, world, environment);
    },
    LONGEST,
  );

  it.each(ANSWERS)('show the actual shape of the response at $place', async ({ place, block, asked }) => {
    const there = await ask(asked, world, environment.TOKEN ?? '');
    expect(differences(JSON.parse(block.text), there).map((line) => `${place}: ${line}`)).toEqual([]);
  });

  it('name only gate addresses that exist', async () => {
    const missing: string[] = [];
    for (const { path, places } of addressesIn(PAGES)) {
      const answers = await Promise.all(
        [world.origin, world.admin].flatMap((base) =>
          ['GET', 'POST'].map((method) => fetch(base + path, { method, redirect: 'manual' }).then((one) => one.status)),
        ),
      );
      if (answers.every((status) => status === 404)) missing.push(`${places.join(', ')}: there is no ${path}`);
    }
    expect(missing).toEqual([]);
  });

  describe('are reported', () => {
    const block = (language: string, text: string): Block => ({
      file: 'docs/made-up.md',
      line: 1,
      language,
      words: [],
      text,
      markers: ['run'],
      headings: [],
    });

    it('for a failing command or a program that throws', async () => {
      await expect(runShell([block('sh', 'false')], world, {})).rejects.toThrow('docs/made-up.md:1: ends with 1');
      await expect(runModule(block('js', 'throw new Error("no")'), world, {})).rejects.toThrow(/ends with 1/);
      await runModule(block('ts', `import 'openid-client'; const a: number = 1; console.log(a);`), world, {});
    });

    it.skipIf(!hasCurl)('for an error response to curl', async () => {
      const gone = block('sh', 'curl -s http://localhost:8080/oauth/nowhere');
      await expect(runShell([gone], world, {})).rejects.toThrow(/nowhere answers 404/);
      await runShell([{ ...gone, markers: ['run: 404'] }], world, {});
    });
  });

  it('include commands, programs and responses to check', () => {
    expect(SESSIONS.map(({ file }) => file)).toEqual(expect.arrayContaining(['docs/clients.md', 'schema/README.md']));
    const client = (block: Block) => block.file === 'docs/clients.md';
    expect(SESSIONS.flatMap(({ blocks }) => blocks).filter(client).length).toBeGreaterThan(5);
    expect(MODULES.filter(({ block }) => client(block)).length).toBeGreaterThan(0);
    expect(ANSWERS.length).toBeGreaterThan(2);
  });
});

it('gate addresses are recognised in the text of a page, if they are complete', () => {
  const text =
    'Not `/oauth/token` or `POST /oauth/nowhere`, but `/api/me`, `/oauth/interaction/…/return` and `/oauth/apps*`.';
  const page = { file: 'a.md', blocks: [], anchors: new Set<string>(), prose: [{ number: 3, text }] };
  expect(addressesIn([page])).toEqual([
    { path: '/oauth/token', places: ['a.md:3'] },
    { path: '/oauth/nowhere', places: ['a.md:3'] },
  ]);
});

describe('the comparison of a shown response', () => {
  it.each([
    [{ a: 1 }, { a: 2, b: 3 }, []],
    [{ a: [{ b: 'x' }] }, { a: [{ b: 'y', c: 1 }, { b: 'z' }] }, []],
    [{ a: [] }, { a: [] }, []],
    [{ c: 1 }, { a: 1 }, ['$.c is shown, and is not there; there are a']],
    [{ a: '1' }, { a: 1 }, ['$.a is shown as string, and is number']],
    [{ a: [{ b: 1 }] }, { a: [{ b: null }] }, ['$.a[0].b is shown as number, and is null']],
    [[], {}, ['$ is shown as list, and is mapping']],
  ])('of %j with %j', (shown, there, wrong) => {
    expect(differences(shown, there)).toEqual(wrong);
  });
});
