import { generateKeyPairSync } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wordsOf } from '../../src/commands/command.ts';
import { type App, registerApp } from '../support/app.ts';
import { runCommand } from '../support/command.ts';
import { connect, statusOf } from '../support/connection.ts';
import { OLU, SAM } from '../support/member.ts';
import { type Ran, runToEnd } from '../support/operator.ts';
import { type Schools, startSchools } from '../support/schools.ts';
import { freePort } from '../support/world.ts';
import { everyLeaf } from './support/definitions.ts';

const SECRETS = {
  OPERATOR: 'operator-of-the-process-0123456789ab',
  EVENTS: `whsec_${Buffer.alloc(32, 'event').toString('base64')}`,
};
const RECORDED = 'schema/upstream/recorded/events.graphql';

/** A process with two schools: what is in the first one. */
interface Known {
  readonly schools: Schools;
  readonly app: App;
  readonly other: App;
  readonly token: string;
  readonly origin: string;
  in(file: string): string;
}

interface OfSchool {
  readonly args?: (known: Known) => readonly string[];
  /** What it says of the first school and of no other. */
  readonly says: string | RegExp | ((known: Known) => string | RegExp);
  readonly code?: number;
  /** What it says without --school, if the process itself has an answer. */
  readonly process?: RegExp;
}

/**
 * Every command, with how it is used for one school of many. A new command belongs in one of the two tables: the order is
 * that in which they are run.
 */
const OF_SCHOOL: Readonly<Record<string, OfSchool>> = {
  check: { says: /main\.yaml: valid.*\. 1 school\n/, process: /\. 2 schools\n/ },
  'config print': { args: () => ['origin'], says: ({ origin }) => `origin: ${origin}\n` },
  // The other school has no Account API.
  snippets: { args: () => ['--for', 'nginx'], says: 'location = /account/graphql {', process: /\n/ },
  export: {
    args: (known) => ['--dir', known.in('documents')],
    says: (known) => {
      const path = known.in('documents/.well-known/oauth-protected-resource');
      expect(readFileSync(path, 'utf8')).toContain(`"${known.origin}"`);
      return path;
    },
  },
  'account pull': { says: ({ in: at }) => `events: updated in ${at('schools/one.graphql')}` },
  'account diff': { says: /^No differences\.\n$/ },
  'mcp import': { says: /tools:\n/ },
  'mcp diff': { says: /^No differences\.\n$/ },
  'mcp submit': {
    args: (known) => ['--dir', known.in('submission')],
    // Without a token of a member, most of its test cases cannot be run.
    code: 1,
    says: (known) => {
      expect(readFileSync(known.in('submission/server.json'), 'utf8')).toContain(`"${known.origin}/mcp`);
      return known.in('submission/server.json');
    },
  },
  health: { says: /^\[\+\]config ok: 37 routes, profile A/, process: /^\[\+\]config ok: 2 schools\n/ },
  doctor: {
    args: () => ['--only', 'gate.running,gate.pages', '--json'],
    says: /"url": "http:\/\/localhost:\d+/,
  },
  observed: { says: /^# |^routes:/m },
  console: {
    args: () => ['--no-browser'],
    says: /localhost:\d+\/schools\/one\/console\/sign-in\?link=/,
    process: /localhost:\d+\/console\/sign-in\?link=/,
  },
  'clients list': { says: ({ app }) => app.client.client_id },
  'clients show': { args: ({ app }) => [app.client.client_id], says: /redirects/ },
  'clients disable': { args: ({ app }) => [app.client.client_id], says: /^disabled / },
  'clients enable': { args: ({ app }) => [app.client.client_id], says: /^enabled / },
  'clients revoke': { args: ({ other }) => [other.client.client_id], says: /1 connections ended/ },
  'clients delete': { args: ({ other }) => [other.client.client_id], says: /^deleted / },
  'members list': { says: /m-\d+/ },
  'members show': { args: () => ['m-1001'], says: /m-1001/ },
  'members suspend': { args: () => ['m-1001'], says: /^suspended m-1001: \d connections ended/ },
  'members resume': { args: () => ['m-1001'], says: /^resumed m-1001/ },
  'members revoke': { args: () => ['m-1001'], says: /^revoked m-1001: \d connections ended/ },
  'grants revoke': { args: () => ['never-a-grant'], says: 'No active grant has this id.', code: 2 },
  'keys list': { says: /ES256/ },
  'keys import': { args: ({ in: at }) => [at('key.pem')], says: /ES256 +next/ },
  'keys rotate': { args: () => ['--now'], says: /ES256/ },
  'keys remove': { args: () => ['never-a-key'], says: 'No published key has this id.', code: 2 },
  'events test': { says: /^test\.ping at \/events of echo: / },
  'events list': { says: /\d+ pending/ },
  'events retry': { says: /^Retrying \d+ events\.\n$/ },
  'secret reseal': { says: /^0 entries re-encrypted\n/, process: /^0 entries re-encrypted\n/ },
};

/** Those about the process, or about nothing that has schools. */
const OF_PROCESS: Readonly<Record<string, string>> = {
  demo: 'brings its own school',
  init: 'writes the first file of a site',
  'config schema': 'prints the schema of every file',
  'hash-password': 'reads a password',
  connect: 'takes the URL of the site',
  completion: 'prints a script',
  'school export': 'names its school as an argument: test/process/schools',
  'school resume': 'as above',
  'school import': 'as above',
  'school remove': 'as above',
  serve: 'run below',
  backup: 'run below: the store is that of all schools',
  'store copy': 'run below',
  'secret rotate': 'run below',
  'secret retire': 'run below',
};

let known: Known;
beforeAll(async () => {
  const schools = await startSchools({
    schools: { one: 'extends: ../template.yaml\nprofile: A\norigin: http://localhost:1\n' },
    main: { admin: { hmac: { secret: { env: 'OPERATOR' } } } },
    environment: SECRETS,
  });
  const origin = `http://localhost:${schools.port}`;
  const at = (file: string) => join(schools.folder, file);
  schools.write('one', {
    profile: 'A',
    origin,
    account: { upstreamSchemas: { events: './one.graphql' } },
    enforcement: { mode: 'observe' },
    events: { upstream: 'echo', path: '/events', secret: { env: 'EVENTS' } },
  });
  schools.write('two', { profile: 'B', origin: `http://127.0.0.1:${schools.port}`, account: { enabled: false } });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(at('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  copyFileSync(RECORDED, at('schools/one.graphql'));
  await schools.reload();
  const [app, other] = [await registerApp(origin), await registerApp(origin)];
  const { access_token: token } = await connect(app, { member: SAM });
  await connect(other, { member: OLU });
  known = { schools, app, other, token, origin, in: at };
}, 120_000);
afterAll(() => known.schools.close());

/** Runs a command with the main file. Without PATH, so that it finds no browser. */
const run = (words: string, args: readonly string[] = [], more = {}): Promise<Ran> =>
  runToEnd([...words.split(' '), ...args], { ...SECRETS, PATH: '', ...more });
const isCheck = (words: string) => words === 'check';

describe('with many schools in one process, ', () => {
  it('each command is in one of the tables, and has --school if it is about one school', async () => {
    const leaves = await everyLeaf();
    const names = leaves.map((command) => wordsOf(command).slice(1).join(' '));
    expect([...Object.keys(OF_SCHOOL), ...Object.keys(OF_PROCESS)].toSorted()).toEqual(names.toSorted());
    const withSchool = leaves.filter((command) => command.options.some(({ long }) => long === '--school'));
    const found = withSchool.map((command) => wordsOf(command).slice(1).join(' '));
    // `secret retire` has the options of all that change something, and refuses this one.
    expect(found.toSorted()).toEqual([...Object.keys(OF_SCHOOL), 'secret retire'].toSorted());
  });

  it.each(Object.entries(OF_SCHOOL))(
    '`%s` is about the school that --school names',
    async (words, { args, says, code = 0, process }) => {
      const leaf = (await everyLeaf()).find((one) => wordsOf(one).slice(1).join(' ') === words);
      const has = (long: string) => leaf?.options.some((option) => option.long === long) === true;
      const { schools } = known;
      const given = [
        ...(args?.(known) ?? []),
        ...(isCheck(words) ? [schools.main] : ['--config', schools.main]),
        ...(has('--admin') ? ['--admin', schools.admin] : []),
      ];
      if (words === 'account pull') writeFileSync(known.in('schools/one.graphql'), '');
      const [named, unnamed] = [await run(words, [...given, '--school', 'one']), await run(words, given)];
      const said = named.stdout + named.stderr;
      expect([named.code, said]).toEqual([code, said]);
      const wanted = typeof says === 'function' ? says(known) : says;
      if (typeof wanted === 'string') expect(said).toContain(wanted);
      else expect(said).toMatch(wanted);
      if (process === undefined)
        expect([unnamed.code, unnamed.stderr]).toEqual([64, expect.stringContaining('choose one with --school')]);
      else expect([unnamed.code, unnamed.stdout]).toEqual([0, expect.stringMatching(process)]);
    },
    60_000,
  );

  it('what is about the process works with the main file', async () => {
    const { schools } = known;
    const served = known.in('served.yaml');
    const [port, adminPort] = [await freePort(), await freePort()];
    const main = { version: 1, schools: './schools/*.yaml', listen: { port, admin: { port: adminPort } } };
    writeFileSync(served, JSON.stringify({ ...main, store: { kind: 'memory' } }));
    const serving = runCommand(['serve', '--config', served], SECRETS);
    await expect.poll(() => serving.stdout(), { timeout: 30_000 }).toContain('coursegate ready schools=2');
    serving.signal('SIGTERM');
    await serving.exited;

    const backup = await run('backup', ['--config', schools.main, '--to', known.in('backup.db')]);
    expect([backup.code, backup.stdout]).toEqual([0, expect.stringContaining('backup.db')]);
    const [from, to] = ['backup', 'copied'].map((name) => {
      const store = { kind: 'sqlite', path: `./${name}.db` };
      writeFileSync(known.in(`${name}.yaml`), JSON.stringify({ ...main, store, secret: { env: 'STORE' } }));
      return known.in(`${name}.yaml`);
    }) as [string, string];
    const STORE = readFileSync(known.in('coursegate.secret'), 'utf8').trim();
    const copied = await run('store copy', ['--from', from, '--to', to], { STORE });
    expect([copied.code, copied.stderr]).toEqual([0, expect.stringContaining('The copy is whole.')]);
  }, 120_000);

  it('a rotation of the secret loses no school: the store of the process is re-encrypted, too', async () => {
    const { schools, origin } = known;
    const of = ['--config', schools.main, '--admin', schools.admin];
    const { access_token: token } = await connect(await registerApp(origin), { member: SAM });
    expect((await run('secret rotate', ['--config', schools.main])).code).toBe(0);
    await schools.restart();
    const again = ['--config', schools.main, '--admin', schools.admin];
    expect(again).not.toEqual(of);
    const one = await run('secret reseal', [...again, '--school', 'one', '--json']);
    const refused = await run('secret retire', [...again, '--yes', '--school', 'one']);
    expect([refused.code, refused.stderr]).toEqual([64, expect.stringContaining('leave out --school')]);
    const all = await run('secret reseal', [...again, '--json']);
    const resealed = ({ stdout }: Ran) => (JSON.parse(stdout) as { resealed: number }).resealed;
    expect(resealed(one)).toBeGreaterThan(5);
    expect(resealed(all)).toBeGreaterThan(1);
    const retired = await run('secret retire', [...again, '--yes']);
    expect([retired.code, retired.stdout]).toEqual([0, expect.stringContaining('Removed 1 old secrets')]);
    await schools.restart();
    expect(await statusOf(origin, token)).toBe(200);
  }, 120_000);
});
