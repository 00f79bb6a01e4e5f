import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readMarkdown } from '../docs/support/markdown.ts';
import { type Engine, startEngine } from '../image/support/engine.ts';
import { schemaErrors } from './support/cyclonedx-schema.ts';
import { change, cloneForRelease, type ReleaseClone, ROOT } from './support/release-clone.ts';

const run = promisify(execFile);
const BUILD_TIME = 30 * 60_000;
/** `COURSEGATE_RELEASE=all` builds the binaries, the Debian packages and the image too. */
const ALL = process.env.COURSEGATE_RELEASE === 'all';
const ONLY = ALL ? [] : ['--only', 'npm,bundle'];
const NPM_AND_BUNDLE = [
  'SHA256SUMS',
  'coursegate-9.8.7-bundle.cdx.json',
  'coursegate-9.8.7-bundle.tar.gz',
  'coursegate-9.8.7-npm.cdx.json',
  'coursegate-9.8.7.provenance.json',
  'coursegate-9.8.7.tgz',
];

/** The shell blocks of a page below a heading, except those with the comment `run: not`, for the version that is built. */
function commandsOf(page: string, heading?: string): readonly string[] {
  const { blocks } = readMarkdown(page, readFileSync(join(ROOT, page), 'utf8'));
  return blocks
    .filter(({ language, markers }) => language === 'sh' && !markers.some((one) => one.startsWith('run: not, ')))
    .filter(({ headings }) => heading === undefined || headings.includes(heading))
    .map(({ text }) => text.replaceAll('0.1.0', '9.8.7'));
}

const digest = (file: string) => ({ sha256: createHash('sha256').update(readFileSync(file)).digest('hex') });

/** Runs the text in bash, ending at the first command that fails. */
async function bash(text: string, cwd: string, variables: Readonly<Record<string, string>> = {}): Promise<string> {
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
  const options = { cwd, env: { ...process.env, PATH, ...variables }, maxBuffer: 64 * 1024 ** 2 };
  return (await run('bash', ['-e', '-o', 'pipefail', '-c', text], options)).stdout;
}

describe('npm run release', () => {
  let clone: ReleaseClone;
  const work = mkdtempSync(join(tmpdir(), 'coursegate-release-test-'));
  const [key, downloads] = [join(work, 'owner.key'), join(work, 'downloads')];
  const released = () => join(clone.path, 'build/release/v9.8.7');
  let engine: Engine | undefined;
  beforeAll(async () => {
    clone = cloneForRelease();
    if (!ALL) return;
    engine = await startEngine();
    Object.assign(process.env, engine.environment);
  }, BUILD_TIME);
  afterAll(async () => {
    await engine?.remove();
    clone.remove();
    rmSync(work, { recursive: true });
  }, BUILD_TIME);

  it('refuses a commit without the tag of its version', async () => {
    const without = await clone.release();
    expect(without.status).toBe(1);
    expect(without.stderr).toContain('There is no tag v9.8.7, and package.json has version 9.8.7.');
    clone.git('tag', 'v9.8.7');
    clone.git('commit', '--quiet', '--allow-empty', '--message', 'After the release');
    const after = await clone.release();
    expect(after.status).toBe(1);
    expect(after.stderr).toBe(
      'The tag v9.8.7 is another commit than the one that is checked out: git checkout v9.8.7\n',
    );
    clone.git('reset', '--quiet', '--hard', 'v9.8.7');
  });

  it('refuses a changelog without the version or with unreleased entries, and changes that are not committed', async () => {
    change(join(clone.path, 'CHANGELOG.md'), (text) =>
      text.replace('## 9.8.7 - ', '## Unreleased\n\n- One more.\n\n## 9.8.70 - '),
    );
    writeFileSync(join(clone.path, 'left-over.txt'), '');
    const { status, stderr } = await clone.release();
    expect(status).toBe(1);
    expect(stderr.split('\n')).toEqual([
      'CHANGELOG.md has no section “## 9.8.7”.',
      'CHANGELOG.md has entries under “## Unreleased”. Move them to “## 9.8.7”.',
      'The work tree has changes that are not committed:',
      'M CHANGELOG.md',
      '?? left-over.txt',
      '',
    ]);
    clone.git('reset', '--quiet', '--hard');
    clone.git('clean', '--quiet', '--force');
  });

  it('builds from the tag, and says what it wrote', { timeout: BUILD_TIME }, async () => {
    const { status, stdout, stderr } = await clone.release(ONLY);
    expect(status, stderr).toBe(0);
    const files = stdout.trim().split('\n');
    expect(files.toSorted()).toEqual(
      readdirSync(released())
        .map((name) => `build/release/v9.8.7/${name}`)
        .toSorted(),
    );
    if (!ALL) expect(readdirSync(released()).toSorted()).toEqual(NPM_AND_BUNDLE);
    expect(clone.git('status', '--porcelain')).toBe('');
    const again = await clone.release(ONLY);
    expect(again).toMatchObject({ status: 1, stderr: 'build/release/v9.8.7 exists. Remove it to build it again.\n' });
  });

  it('leaves no trace of the machine in the archives', () => {
    const commit = Number(clone.git('log', '-1', '--format=%ct'));
    const time = new Date(commit * 1000).toISOString().slice(0, 16).replace('T', ' ');
    const listed = execFileSync('tar', ['-tvzf', join(released(), 'coursegate-9.8.7-bundle.tar.gz')], {
      encoding: 'utf8',
      env: { ...process.env, TZ: 'UTC' },
    });
    const lines = listed.trim().split('\n');
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.filter((line) => !/^(?:-rw-r--r--|drwxr-xr-x) 0\/0 /.test(line))).toEqual([]);
    expect(lines.filter((line) => !line.includes(` ${time} coursegate-9.8.7-bundle/`))).toEqual([]);
    for (const archive of ['coursegate-9.8.7-bundle.tar.gz', 'coursegate-9.8.7.tgz']) {
      const whole = execFileSync('tar', ['-xzOf', join(released(), archive)], { maxBuffer: 256 * 1024 ** 2 });
      for (const place of [tmpdir(), ROOT, clone.path]) expect(whole.includes(`${place}/coursegate-`)).toBe(false);
    }
  });

  it('writes SBOMs that CycloneDX’s schema accepts', () => {
    const documents = readdirSync(released()).filter((name) => name.endsWith('.cdx.json'));
    expect(documents.length).toBeGreaterThanOrEqual(2);
    for (const name of documents) expect(schemaErrors(readFileSync(join(released(), name), 'utf8'))).toEqual([]);
  });

  it('states what it built, from which commit, and with what', () => {
    const statement = JSON.parse(readFileSync(join(released(), 'coursegate-9.8.7.provenance.json'), 'utf8'));
    expect(statement).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: {
          externalParameters: { ref: 'refs/tags/v9.8.7' },
          internalParameters: { tools: { node: process.versions.node } },
        },
        runDetails: { builder: { id: 'pkg:npm/coursegate@9.8.7#packaging/release.ts' } },
      },
    });
    const archive = digest(join(released(), 'coursegate-9.8.7.tgz'));
    expect(statement.subject).toContainEqual({ name: 'coursegate-9.8.7.tgz', digest: archive });
    const lock = digest(join(clone.path, 'package-lock.json'));
    const { resolvedDependencies } = statement.predicate.buildDefinition;
    expect(resolvedDependencies[0].digest).toEqual({ gitCommit: clone.git('rev-parse', 'HEAD') });
    expect(resolvedDependencies[1]).toEqual({ name: 'package-lock.json', digest: lock });
    const names = statement.subject.map((one: { name: string }) => one.name);
    expect(names).toEqual(
      readdirSync(released())
        .filter((name) => !/SHA256SUMS|provenance/.test(name))
        .toSorted(),
    );
  });

  it('writes a package that npm would publish', async () => {
    const said = await bash(commandsOf('docs/releasing.md', 'Publish')[0] ?? '', clone.path);
    expect(said).toContain('+ coursegate@9.8.7');
    const manifest = await bash('tar -xzOf coursegate-9.8.7.tgz package/package.json', released());
    // A dry run does not look at it.
    expect(JSON.parse(manifest)).not.toHaveProperty('private');
  });

  it('can be signed as docs/releasing.md says, and verified and built again as docs/verify.md says', {
    timeout: BUILD_TIME,
  }, async () => {
    await bash('openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$KEY"', work, { KEY: key });
    for (const text of commandsOf('docs/releasing.md', 'Sign')) await bash(text, released(), { KEY: key });
    cpSync(released(), downloads, { recursive: true });
    rmSync(join(downloads, 'coursegate-9.8.7.provenance.json'));
    await bash(`openssl pkey -in "$KEY" -pubout -out coursegate.pub`, downloads, { KEY: key });
    const page = commandsOf('docs/verify.md').join('\n').replace('--only npm,bundle', ONLY.join(' '));
    const said = await bash(`umask 077\n${page}`, downloads, { REPOSITORY: clone.path });
    expect(said.match(/^Verified OK$/gm)).toHaveLength(2);
    expect(said.match(/^coursegate-9\.8\.7\.tgz: OK$/gm)).toHaveLength(2);
    expect(said.match(new RegExp(`^${clone.git('rev-parse', 'HEAD')}$`, 'gm'))).toHaveLength(2);
    expect(said).toMatch(
      /^Built again, and the same: .*coursegate-9\.8\.7-bundle\.tar\.gz, .*coursegate-9\.8\.7\.tgz/m,
    );
    expect(said).toMatch(/^pkg:npm\/oidc-provider@/m);
  });

  it('has a signature that another file, statement or key does not verify', async () => {
    const [, check = '', statement = ''] = commandsOf('docs/verify.md');
    const changed = async (file: string, text: string) => {
      const folder = mkdtempSync(join(work, 'changed-'));
      for (const name of readdirSync(downloads)) {
        if (name !== 'coursegate') cpSync(join(downloads, name), join(folder, name));
      }
      writeFileSync(join(folder, file), text);
      return bash(`VERSION=9.8.7\n${file.endsWith('.jsonl') ? statement : check}`, folder);
    };
    const sums = readFileSync(join(downloads, 'SHA256SUMS'), 'utf8');
    expect(existsSync(join(downloads, 'coursegate-9.8.7.tgz'))).toBe(true);
    await expect(changed('coursegate-9.8.7.tgz', 'other')).rejects.toThrow(/did NOT match/);
    await expect(changed('SHA256SUMS', sums.replace(/^.*\n/, ''))).rejects.toThrow(/Command failed/);
    const envelope = readFileSync(join(downloads, 'coursegate-9.8.7.intoto.jsonl'), 'utf8');
    const { payload, ...rest } = JSON.parse(envelope);
    const other = Buffer.from(payload, 'base64').toString('utf8').replace('v9.8.7', 'v9.8.6');
    const forged = JSON.stringify({ ...rest, payload: Buffer.from(other).toString('base64') });
    await expect(changed('coursegate-9.8.7.intoto.jsonl', forged)).rejects.toThrow(/Command failed/);
    const foreign = await bash(
      'openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 | openssl pkey -pubout',
      work,
    );
    await expect(changed('coursegate.pub', foreign)).rejects.toThrow(/Command failed/);
  });
});
