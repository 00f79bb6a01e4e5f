import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/*
 * npm run release: builds everything for the tag that is checked out, in a clean clone, into build/release/v<version>.
 *   --only npm,bundle   these kinds of artefacts alone
 *   --builder URI       the system that builds, for the provenance statement
 *   --verify [DIR]      builds again, elsewhere, and compares with the SHA256SUMS of a release
 * It imports no package, so that it runs before `npm ci`.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
const TAG = `v${version}`;
const FOLDER = join('build/release', TAG);

const git = (...words: readonly string[]) =>
  execFileSync('git', words, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** Why this checkout cannot be released; empty if it can. */
function obstacles(): readonly string[] {
  const found: string[] = [];
  let tagged = '';
  try {
    tagged = git('rev-parse', '--verify', `refs/tags/${TAG}^{commit}`);
  } catch {
    found.push(
      `There is no tag ${TAG}, and package.json has version ${version}. Tag the commit: git tag --sign ${TAG}`,
    );
  }
  if (tagged !== '' && tagged !== git('rev-parse', 'HEAD')) {
    found.push(`The tag ${TAG} is another commit than the one that is checked out: git checkout ${TAG}`);
  }
  const sections = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').split(/^## /m);
  const section = (name: string) => sections.find((one) => one.split(/\s/, 1)[0]?.replace(/^\[|\]$/g, '') === name);
  if (section(version) === undefined) found.push(`CHANGELOG.md has no section “## ${version}”.`);
  if (/^- /m.test(section('Unreleased') ?? '')) {
    found.push(`CHANGELOG.md has entries under “## Unreleased”. Move them to “## ${version}”.`);
  }
  const changed = git('status', '--porcelain');
  if (changed !== '') found.push(`The work tree has changes that are not committed:\n${changed}`);
  return found;
}

interface Wanted {
  readonly only: string | undefined;
  readonly builder: string | undefined;
  /** What is different in a second build: variables that a program could read by mistake. */
  readonly environment: NodeJS.ProcessEnv;
}

/** Clones the tag, installs its packages, and builds. Returns the folder with the artefacts, below `work`. */
function build(work: string, { only, builder, environment }: Wanted): string {
  const [clone, out] = [join(work, 'clone'), join(work, 'out')];
  const settings = ['-c', 'core.autocrlf=false', '-c', 'advice.detachedHead=false'];
  git(...settings, 'clone', '--quiet', '--no-local', '--depth', '1', '--branch', TAG, ROOT, clone);
  const time = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: clone, encoding: 'utf8' }).trim();
  const env = {
    ...process.env,
    ...environment,
    SOURCE_DATE_EPOCH: time,
    PATH: `${join(clone, 'node_modules/.bin')}:${process.env.PATH}`,
  };
  const run = (program: string, ...words: readonly string[]) =>
    execFileSync(program, words, { cwd: clone, env, stdio: ['ignore', 2, 2] });
  run('npm', 'ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error');
  const options = [
    ...(only === undefined ? [] : ['--only', only]),
    ...(builder === undefined ? [] : ['--builder', builder]),
  ];
  run(join(clone, 'node_modules/.bin/node'), 'packaging/artefacts.ts', '--out', out, '--tag', TAG, ...options);
  return out;
}

/** The lines of a SHA256SUMS, by file. */
function sumsIn(folder: string): ReadonlyMap<string, string> {
  const lines = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n');
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}

/** Says what differs between a release and a second build of it, and returns the exit code. */
function compare(released: ReadonlyMap<string, string>, rebuilt: ReadonlyMap<string, string>): number {
  // Another builder writes another statement of who built it.
  const compared = [...rebuilt].filter(([name]) => !name.endsWith('.provenance.json'));
  const different = compared.filter(([name, hash]) => released.get(name) !== hash);
  for (const [name, hash] of different) {
    console.log(`${name} differs: ${released.get(name) ?? 'not in SHA256SUMS'}, and built again ${hash}`);
  }
  if (different.length === 0) console.log(`Built again, and the same: ${compared.map(([name]) => name).join(', ')}`);
  return different.length === 0 ? 0 : 1;
}

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { only: { type: 'string' }, builder: { type: 'string' }, verify: { type: 'boolean' } },
  });
  const target = positionals[0] ?? join(ROOT, FOLDER);
  const found = [...obstacles()];
  if (!values.verify && existsSync(target)) found.push(`${FOLDER} exists. Remove it to build it again.`);
  if (values.verify && !existsSync(join(target, 'SHA256SUMS')))
    found.push(`${target} has no SHA256SUMS to compare with.`);
  if (found.length > 0) {
    console.error(found.join('\n'));
    return 1;
  }
  // Modes of files come from it, and go into archives.
  process.umask(0o022);
  const work = mkdtempSync(join(tmpdir(), values.verify ? 'coursegate-verify-elsewhere-' : 'coursegate-release-'));
  try {
    const environment = values.verify ? { TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' } : {};
    const out = build(work, { only: values.only, builder: values.builder, environment });
    const built = sumsIn(out);
    if (values.verify) return compare(sumsIn(target), built);
    cpSync(out, target, { recursive: true });
    console.log([...built.keys(), 'SHA256SUMS'].map((name) => join(FOLDER, name)).join('\n'));
    return 0;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

process.exitCode = main();
