import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { sourceFiles } from '../../src/config/source-files.ts';
import { createLog } from '../../src/operations/log.ts';
import { startGateway } from '../../src/process/gateway.ts';
import { folderWith, load, mistakes, SMALL } from '../config/fixture.ts';
import { freePort, startWorld, type World } from '../support/world.ts';
import { runScenario } from './support/conformance/suite.ts';
import { ask, askModern, tokenOf } from './support/mcp.ts';

const REVISIONS = ['2026-07-28', '2025-11-25'] as const;
const sha256 = (bytes: string | Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

describe('the skill of the demo', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
  });
  afterAll(() => world.close());

  it.each([
    ['sep-2640-skills-enumeration', '2026-07-28', 32, 0],
    ['sep-2640-skills-enumeration', '2025-11-25', 32, 2],
    ['sep-2640-skills-manifest', '2026-07-28', 6, 0],
    ['sep-2640-skills-manifest', '2025-11-25', 6, 0],
  ] as const)('passes %s of the conformance suite, revision %s', async (scenario, revision, all, skipped) => {
    const { code, scenarios, output } = await runScenario(`${world.origin}/mcp`, revision, scenario);
    const checks = scenarios.get(scenario) ?? [];
    // Caching is defined from 2026-07-28 on; before, its two checks are skipped.
    expect(checks.filter(({ status }) => status === 'SKIPPED')).toHaveLength(skipped);
    expect(checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')).toEqual([]);
    expect(checks).toHaveLength(all);
    expect([code, output]).toEqual([0, expect.stringContaining('0 failed, 0 warnings')]);
  });

  it.each(REVISIONS)('is the same for everyone, and its bytes have the digest that is told, %s', async (revision) => {
    const send = revision === '2026-07-28' ? askModern : ask;
    const token = await tokenOf(world, 'openid');
    const [anonymous, member] = await Promise.all([
      send(world, 'skills/list'),
      send(world, 'skills/list', {}, { token, path: '/mcp/member' }),
    ]);
    expect(member.body.result.skills).toEqual(anonymous.body.result.skills);
    const [skill] = anonymous.body.result.skills;
    expect(anonymous.body.result.skills).toEqual([
      {
        uri: 'skill://plan-my-week/SKILL.md',
        frontmatter: { name: 'plan-my-week', description: expect.stringMatching(/^Plans a member's week of study/) },
        resources: [{ uri: 'skill://plan-my-week/SKILL.md', digest: expect.any(String), size: expect.any(Number) }],
      },
    ]);
    const read = await send(world, 'resources/read', { uri: skill.uri });
    const [{ text }] = read.body.result.contents;
    expect(skill.resources[0]).toMatchObject({ digest: sha256(text), size: Buffer.byteLength(text) });
    expect(text).toContain('`continue_watching`');
    const got = await send(world, 'skills/get', { uri: skill.uri });
    expect(got.body.result.skill).toEqual(skill);
    const resources = await send(world, 'resources/list');
    expect(resources.body.result.resources).toContainEqual({
      uri: skill.uri,
      name: 'plan-my-week',
      description: skill.frontmatter.description,
      mimeType: 'text/markdown',
    });
  });

  it.each([{ uri: 'skill://other/SKILL.md' }, { uri: 'skill://plan-my-week' }, { uri: 7 }, {}])(
    'is not found with %j',
    async (params) => {
      const { body } = await askModern(world, 'skills/get', params);
      expect(body.error).toEqual({ code: -32_602, message: 'No skill has this URI.' });
    },
  );
});

const WITH_SKILLS = `${SMALL}mcp:
  skills: skills
  tools: [{ name: list_courses, title: T, description: D, get: { upstream: school, path: /x } }]
`;
const skill = (name: string, text = 'Call `list_courses`.') =>
  `---\nname: ${name}\ndescription: ${name} is for tests.\nmetadata: { version: "2", since: 2026 }\n---\n\n${text}\n`;

async function gateIn(folder: string): Promise<World> {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const loaded = await loadConfig({
    file: join(folder, 'gate.yaml'),
    environment: {},
    overrides: { origin, listen: { port, admin: { port: 0 } }, store: { kind: 'memory' } },
  });
  const gate = await startGateway({ loaded, log: createLog('silent', 2), clock: Date.now });
  return { origin, close: () => gate.close(0) } as World;
}

describe('skills of an operator', () => {
  it('have all of their files, of any kind, and nothing else', async () => {
    const picture = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0xff);
    const folder = await folderWith({
      'gate.yaml': WITH_SKILLS,
      'skills/README.md': 'For operators.',
      'skills/one/SKILL.md': skill('one'),
      'skills/one/templates/table.md': '| day |\n',
      'skills/one/assets/mark.png': picture,
      'skills/one/notes': 'plain',
      'skills/one/.DS_Store': 'x',
      'skills/two/SKILL.md': `\u{feff}${skill('two')}`.slice(1),
    });
    const world = await gateIn(folder);
    const { body } = await askModern(world, 'skills/list');
    expect(body.result.skills.map(({ uri }: { uri: string }) => uri)).toEqual([
      'skill://one/SKILL.md',
      'skill://two/SKILL.md',
    ]);
    const [one] = body.result.skills;
    expect(one.frontmatter).toEqual({
      name: 'one',
      description: 'one is for tests.',
      metadata: { version: '2', since: 2026 },
    });
    expect(one.resources).toEqual([
      { uri: 'skill://one/SKILL.md', digest: sha256(skill('one')), size: skill('one').length },
      { uri: 'skill://one/assets/mark.png', digest: sha256(picture), size: 5 },
      { uri: 'skill://one/notes', digest: sha256('plain'), size: 5 },
      { uri: 'skill://one/templates/table.md', digest: sha256('| day |\n'), size: 8 },
    ]);
    const contents = async (uri: string) =>
      (await askModern(world, 'resources/read', { uri })).body.result?.contents?.[0];
    expect(await contents('skill://one/assets/mark.png')).toEqual({
      uri: 'skill://one/assets/mark.png',
      mimeType: 'application/octet-stream',
      blob: 'iVBOR/8=',
    });
    expect(await contents('skill://one/templates/table.md')).toMatchObject({ mimeType: 'text/markdown' });
    expect(await contents('skill://one/notes')).toMatchObject({ mimeType: 'text/plain', text: 'plain' });
    for (const uri of ['skill://README.md', 'skill://one/.DS_Store', 'skill://one/../two/SKILL.md', 'skill://one'])
      expect(await contents(uri)).toBeUndefined();
    await world.close();
  });

  it('are not announced where there are none', async () => {
    const world = await gateIn(await folderWith({ 'gate.yaml': WITH_SKILLS.replace('  skills: skills\n', '') }));
    const discovered = await askModern(world, 'server/discover');
    expect(discovered.body.result.capabilities.extensions).toEqual({});
    expect((await askModern(world, 'skills/list')).body.error.code).toBe(-32_601);
    await world.close();
  });

  it('are read again when one changes, is added or goes', async () => {
    const folder = await folderWith({ 'gate.yaml': WITH_SKILLS, 'skills/one/SKILL.md': skill('one') });
    const file = join(folder, 'gate.yaml');
    const read = async () => {
      const sources = sourceFiles(folder);
      await loadConfig({ file, environment: {}, sources });
      return sources;
    };
    const first = await read();
    expect(await first.areUnchanged()).toBe(true);
    await writeFile(join(folder, 'skills/one/more.md'), 'x');
    expect(await first.areUnchanged()).toBe(false);
    const second = await read();
    await writeFile(join(folder, 'skills/one/more.md'), 'y');
    expect(await second.areUnchanged()).toBe(false);
    const third = await read();
    await rm(join(folder, 'skills/one/more.md'));
    expect(await third.areUnchanged()).toBe(false);
  });

  it.each<[string, Readonly<Record<string, string | Uint8Array>>, string]>([
    ['a folder that is missing', {}, 'cannot read skills: there is no such file'],
    ['no folder in it', { 'skills/README.md': 'x' }, 'skills has no folder with a SKILL.md'],
    ['no SKILL.md', { 'skills/a/skill.md': skill('a') }, 'skills/a has no SKILL.md'],
    [
      'no frontmatter',
      { 'skills/a/SKILL.md': '# A\n' },
      'skills/a/SKILL.md must begin with YAML between two lines of ---',
    ],
    [
      'bytes that are no text',
      { 'skills/a/SKILL.md': Uint8Array.of(0xff, 0xfe) },
      'skills/a/SKILL.md must begin with YAML between two lines of ---',
    ],
    [
      'YAML that is broken',
      { 'skills/a/SKILL.md': '---\nname: [\n---\n' },
      'skills/a/SKILL.md must begin with valid YAML between two lines of ---',
    ],
    [
      'a list',
      { 'skills/a/SKILL.md': '---\n- a\n---\n' },
      'skills/a/SKILL.md must have a name and a description between the lines of ---',
    ],
    [
      'a name in capitals',
      { 'skills/A/SKILL.md': skill('A') },
      'skills/A/SKILL.md must have a name of at most 64 lower-case letters, digits and single hyphens',
    ],
    [
      'a name with two hyphens',
      { 'skills/a--b/SKILL.md': skill('a--b') },
      'skills/a--b/SKILL.md must have a name of at most 64 lower-case letters, digits and single hyphens',
    ],
    [
      'the name of another folder',
      { 'skills/a/SKILL.md': skill('b') },
      'skills/a/SKILL.md is named b, and its folder a: they must be the same',
    ],
    [
      'no description',
      { 'skills/a/SKILL.md': '---\nname: a\n---\n' },
      'skills/a/SKILL.md must have a description of at most 1024 characters',
    ],
    [
      'a description that is too long',
      { 'skills/a/SKILL.md': `---\nname: a\ndescription: ${'x'.repeat(1025)}\n---\n` },
      'skills/a/SKILL.md must have a description of at most 1024 characters',
    ],
    [
      'a name that no URI can have',
      { 'skills/a/SKILL.md': skill('a'), 'skills/a/my notes.md': 'x' },
      'skills/a has a name with other characters than A-Z a-z 0-9 . _ -',
    ],
    ['folders in folders in folders', { 'skills/a/b/c/d/e/f.md': 'x' }, 'skills/a/b/c/d/e is nested too deeply'],
    [
      'too many files',
      Object.fromEntries(Array.from({ length: 513 }, (_, at) => [`skills/a/${at}.md`, 'x'])),
      'skills has more than 512 files',
    ],
  ])('are refused with %s', async (_what, files, message) => {
    expect(await mistakes(WITH_SKILLS, { files })).toEqual([`gate.yaml:15:11  mcp.skills: ${message}`]);
  });

  it('have at most 16 MiB together', async () => {
    const files = { 'skills/a/SKILL.md': skill('a'), 'skills/a/b.bin': new Uint8Array(16 * 1024 ** 2) };
    expect((await mistakes(WITH_SKILLS, { files }))[0]).toMatch(/mcp\.skills: skills has more than 16 MiB$/);
  });

  it('that name a tool which does not exist get a warning', async () => {
    const files = { 'skills/a/SKILL.md': skill('a', 'Call `list_courses`, then `list_grades` and `list_grades`.') };
    const { warnings } = await load(WITH_SKILLS, { files });
    expect(warnings.map(({ path, message }) => `${path}: ${message}`)).toContain(
      'mcp.skills: skills/a/SKILL.md names the tool list_grades, which does not exist',
    );
    expect(warnings.filter(({ path }) => path === 'mcp.skills')).toHaveLength(1);
  });
});

const PRESETS = globSync('integrations/*/skills').map(dirname);

describe('the presets with tools', () => {
  it('have a skill each', () => {
    const withTools = globSync('integrations/*/coursegate.yaml').filter((file) => parse(read(file)).mcp !== undefined);
    expect(PRESETS.toSorted()).toEqual(withTools.map(dirname).toSorted());
  });

  it.each(PRESETS)('%s names only tools that it has', (preset) => {
    const { mcp } = parse(read(join(preset, 'coursegate.yaml')));
    expect(mcp.skills).toBe('skills');
    const tools = mcp.tools.map(({ name }: { name: string }) => name);
    for (const file of globSync(join(preset, 'skills/*/SKILL.md'))) {
      const text = read(file);
      expect(parse(text.split('---\n')[1] ?? '').name).toBe(basename(dirname(file)));
      for (const [, name] of text.matchAll(/`(\w+_\w+)`/g)) expect(tools).toContain(name);
    }
  });
});

function read(file: string): string {
  return readFileSync(file, 'utf8');
}
