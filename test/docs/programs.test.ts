import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/operations/log.ts';
import { readLanguages } from '../clients/harness/catalogue.ts';
import { install, installsOver } from '../clients/harness/install.ts';
import { startWorld, type World } from '../support/world.ts';
import { placedAt, runAsReader } from './support/live.ts';
import { PAGES, ROOT } from './support/pages.ts';
import { isOfPrograms, readPrograms } from './support/programs.ts';

/** The toolchain of each page, as test/clients has it. Its packages are those of the client matrix, so they are downloaded once. */
const TOOLCHAINS: Readonly<Record<string, string>> = {
  'docs/clients/go.md': 'go',
  'docs/clients/python.md': 'python',
  'docs/clients/typescript.md': 'node',
};
const LANGUAGES = readLanguages();
const CASES = PAGES.filter(({ file }) => isOfPrograms(file)).map((page) => ({
  ...readPrograms(page),
  language: LANGUAGES.find(({ folder }) => folder === TOOLCHAINS[page.file]),
}));

/** The versions of what the named packages need, and nothing that only a reader wants. */
const SETTINGS = {
  PIP_CONSTRAINT: join(ROOT, 'test/clients/python/requirements.txt'),
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  PIP_NO_COMPILE: '1',
  npm_config_audit: 'false',
  npm_config_prefer_offline: 'true',
};
const EXPORTS = Object.entries(SETTINGS)
  .map(([name, value]) => `export ${name}='${value}'\n`)
  .join('');

/** Timeout of an install or a program on a busy machine. */
const LONGEST = 240_000;

/** What the gate records when a member connects an app. */
const CONNECTED = ['client_registered', 'signed_in', 'consent_given', 'code_issued', 'token_issued'];

describe('the programs for client developers', () => {
  let folder: string;
  let world: World;
  let seen = 0;
  beforeAll(async () => {
    await installsOver();
    folder = mkdtempSync(join(tmpdir(), 'coursegate-programs-'));
    world = await startWorld({ profile: 'A', log: createLog('info', openSync(join(folder, 'log'), 'w')) });
  }, LONGEST);
  afterAll(async () => {
    await world?.close();
    rmSync(folder, { recursive: true });
  });

  /** The names of the audit events since the last call. */
  const newEvents = (): readonly string[] => {
    const lines = readFileSync(join(folder, 'log'), 'utf8').split('\n').filter(Boolean);
    const fresh = lines.slice(seen).map((line) => JSON.parse(line)['event.action'] as string | undefined);
    seen = lines.length;
    return fresh.filter((action) => action !== undefined);
  };

  it('are there in three languages', () => {
    expect(CASES.map(({ file }) => file)).toEqual(Object.keys(TOOLCHAINS));
    for (const { programs } of CASES) expect(programs).toHaveLength(2);
  });

  describe.each(CASES)('$file', ({ file, install: commands, programs: [app, tools], language }) => {
    const home = () => join(folder, file.replaceAll('/', '-'));
    let lacking: string | undefined;
    beforeAll(async () => {
      mkdirSync(home());
      if (language?.present) lacking = await install({ path: home(), install: EXPORTS + commands });
      else lacking = `${language?.language} is not installed`;
    }, LONGEST);

    /** Saves a program and runs it as the page says. Returns its output, once it has ended without an error. */
    const runOf = async (program: typeof app): Promise<string> => {
      if (program === undefined) throw new Error(`${file} has too few programs`);
      const path = join(home(), program.name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, placedAt(world, program.text));
      const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
      const environment = { HOME: process.env.HOME ?? '', PATH };
      newEvents();
      const ran = await runAsReader(['bash', '-euc', program.commands], world, environment, home());
      expect(ran, ran.stderr + ran.stdout).toMatchObject({ code: 0 });
      return ran.stdout;
    };

    it(
      'has an app that signs a member in, reads, refreshes and revokes',
      async (context) => {
        context.skip(lacking !== undefined, lacking);
        const output = await runOf(app);
        for (const part of ['m-1001', 'student@example.com', 'harbour-navigation', 'Refreshed', 'Revoked']) {
          expect(output).toContain(part);
        }
        expect(newEvents()).toEqual([...CONNECTED, 'token_refreshed', 'token_revoked']);
      },
      LONGEST,
    );

    it(
      'has an assistant that signs a member in, and calls a tool for them',
      async (context) => {
        context.skip(lacking !== undefined, lacking);
        const output = await runOf(tools);
        for (const part of ['search_courses', 'list_my_courses', 'm-1001', 'student@example.com']) {
          expect(output).toContain(part);
        }
        expect(newEvents()).toEqual([...CONNECTED, 'tool_called']);
      },
      LONGEST,
    );
  });
});
