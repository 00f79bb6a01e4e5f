import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TOOL = fileURLToPath(new URL('../../../../node_modules/.bin/conformance', import.meta.url));
const REQUIREMENTS = fileURLToPath(
  new URL('../../../../node_modules/@modelcontextprotocol/conformance/requirements', import.meta.url),
);
const EXPECTED = fileURLToPath(new URL('../../conformance', import.meta.url));

export type Revision = '2026-07-28' | '2025-11-25';

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
}

export interface SuiteRun {
  readonly code: number | null;
  readonly output: string;
  /** The checks of each scenario that ran. */
  readonly scenarios: ReadonlyMap<string, readonly Check[]>;
}

/**
 * Runs all scenarios of a revision, required and unscored, against the server at `url`. `expected` is the file of
 * expected failures.
 */
export function runServerSuite(url: string, revision: Revision, expected: string): Promise<SuiteRun> {
  return runSuite(url, ['--requirements', revision, '--expected-failures', join(EXPECTED, expected)]);
}

/** Runs one scenario of an extension, which no revision requires. */
export function runScenario(url: string, revision: Revision, scenario: string): Promise<SuiteRun> {
  return runSuite(url, ['--scenario', scenario, '--spec-version', revision, '--force']);
}

async function runSuite(url: string, parameters: readonly string[]): Promise<SuiteRun> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-conformance-'));
  const args = ['server', '--url', url, ...parameters, '-o', folder];
  const suite = spawn(process.execPath, [TOOL, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [suite.stdout, suite.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const code = await new Promise<number | null>((resolve) => suite.once('close', resolve));
  const scenarios = new Map(
    globSync(join(folder, '*', 'checks.json')).map((file): [string, Check[]] => [
      scenarioOf(basename(dirname(file))),
      JSON.parse(readFileSync(file, 'utf8')),
    ]),
  );
  rmSync(folder, { recursive: true, force: true });
  return { code, output, scenarios };
}

/** The folder of a run is named `server-<scenario>-<time>`. */
function scenarioOf(folder: string): string {
  return folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
}

/**
 * The failed scenarios, or for those in `byCheck` the failed checks as `scenario:check`, sorted. A warning counts, as
 * it does for the suite.
 */
export function failuresOf({ scenarios }: SuiteRun, byCheck: ReadonlySet<string>): string[] {
  const failures = [...scenarios].flatMap(([scenario, checks]) => {
    const failed = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
    if (!byCheck.has(scenario)) return failed.length > 0 ? [scenario] : [];
    return failed.map(({ id }) => `${scenario}:${id}`);
  });
  return [...new Set(failures)].sort();
}

export interface ExpectedFailure {
  /** `scenario` or `scenario:check`. */
  readonly entry: string;
  readonly reason: string;
}

/**
 * Reads a file of expected failures, in which every entry is followed by its reason.
 * @throws Error on a line without a reason.
 */
export function expectedFailures(file: string): readonly ExpectedFailure[] {
  const lines = readFileSync(join(EXPECTED, file), 'utf8').split('\n');
  return lines.flatMap((line): ExpectedFailure[] => {
    if (line === '' || line === 'server:' || line === 'server: []' || line.startsWith('#')) return [];
    const [, entry, reason] = /^ {2}- (\S+) +# (.{20,})$/.exec(line) ?? [];
    if (entry === undefined || reason === undefined) throw new Error(`${file}: no reason for: ${line}`);
    return [{ entry, reason }];
  });
}

/** The scenarios that a revision requires, according to the suite. */
export function requiredScenarios(revision: Revision): readonly string[] {
  const text = readFileSync(join(REQUIREMENTS, `${revision}.yaml`), 'utf8');
  const section = /^server:\n((?: {2}- \S+\n)+)/m.exec(text)?.[1] ?? '';
  return [...section.matchAll(/- (\S+)/g)].map(([, name = '']) => name);
}
