import { execFile, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { missing } from '../support/missing.ts';

const VERSION = '6.2.0';
const SHA256 = '6037cbeee0e8423c1c468447ed10f5fcf2f2743a2ffc39cb1c81f2905c0fdb9d';
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';
const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/coursegate-alloy', import.meta.url));
const JAR = join(FOLDER, `org.alloytools.alloy.dist-${VERSION}.jar`);

/** Alloy brings this solver for these systems. Elsewhere its own in Java takes a little longer. */
const SOLVER = ['linux-x64', 'darwin-x64', 'darwin-arm64'].includes(`${process.platform}-${process.arch}`)
  ? 'glucose'
  : 'sat4j';

/** For a process of seconds. With Java's own defaults, compiling and collecting take as long as the search. */
const BRIEF = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

/** A command of Alloy: `check` finds no counterexample, or `run` finds an example. */
export interface Result {
  readonly kind: 'check' | 'run';
  readonly name: string;
  /** Whether it found one. */
  readonly found: boolean;
  readonly seconds: number;
}

/** Whether Alloy can be run. Maven fetches it once. CI may lack Java. */
export function hasAlloy(): boolean {
  try {
    execFileSync('java', ['-version'], { stdio: 'ignore' });
    if (!existsSync(JAR)) {
      const artifact = `-Dartifact=org.alloytools:org.alloytools.alloy.dist:${VERSION}`;
      execFileSync('mvn', ['--quiet', '--batch-mode', COPY, artifact, `-DoutputDirectory=${FOLDER}`], {
        stdio: 'ignore',
        timeout: 120_000,
      });
    }
  } catch {
    return missing(
      'no Java, no Maven, or no network for it: the model of tokens is checked by Alloy (apt-get install default-jdk-headless maven)',
      true,
    );
  }
  const sum = createHash('sha256').update(readFileSync(JAR)).digest('hex');
  if (sum !== SHA256) throw new Error(`${JAR} is not Alloy ${VERSION}: delete it, and look where it came from`);
  return true;
}

/** The commands of a file of Alloy, each from its word to its number of steps. */
export const COMMAND = /^(check|run) (\w+)(?:.|\n)*?\bfor (.*steps)$/gm;

/** Writes the files to a folder of their own, and deletes it afterwards. */
async function inFolder<T>(files: Readonly<Record<string, string>>, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-model-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** At most `most` instances of the only command of a file, each as Alloy writes its states. */
export function instances(
  files: Readonly<Record<string, string>>,
  name: string,
  most: number,
): Promise<readonly string[]> {
  return inFolder(files, async (cwd) => {
    const options = ['--force', '--solver', SOLVER, '--repeat', `${most}`, '--type', 'text', '--output', 'out'];
    const command = [...BRIEF, '-jar', JAR, 'exec', ...options, name];
    const { stdout, stderr } = await promisify(execFile)('java', command, { cwd, maxBuffer: 2 ** 26 });
    const found = existsSync(join(cwd, 'out')) ? readdirSync(join(cwd, 'out')) : [];
    const solutions = found.filter((file) => file.endsWith('.txt'));
    if (solutions.length === 0 && !/\bUNSAT$/m.test(stdout + stderr))
      throw new Error(`Alloy did not run ${name}:\n${stdout}${stderr}`);
    return solutions.map((file) => readFileSync(join(cwd, 'out', file), 'utf8'));
  });
}

/** Runs all commands of promises.als, one after the other. `files` are the files by their names. */
export async function analyse(files: Readonly<Record<string, string>>): Promise<readonly Result[]> {
  return inFolder(files, async (cwd) => {
    const options = ['--force', '--solver', SOLVER, '--command', '*', '--type', 'none', '--output', 'out'];
    const alloy = spawn('java', [...BRIEF, '-jar', JAR, 'exec', ...options, 'promises.als'], { cwd });
    const ended = new Promise((resolve) => alloy.once('close', resolve));
    const results: Result[] = [];
    const complaints: string[] = [];
    let since = performance.now();
    const read = (line: string) => {
      const [, kind, name = '', outcome] = /^\d+\. (check|run)\s+(\w+)\s.*?\b(UNSAT|SAT)$/.exec(line.trim()) ?? [];
      if (kind !== 'check' && kind !== 'run') return void complaints.push(line);
      const now = performance.now();
      results.push({ kind, name, found: outcome === 'SAT', seconds: (now - since) / 1000 });
      since = now;
    };
    for (const output of [alloy.stdout, alloy.stderr]) createInterface(output).on('line', read);
    await ended;
    if (results.length !== [...(files['promises.als'] ?? '').matchAll(COMMAND)].length)
      throw new Error(`Alloy did not run every command:\n${complaints.slice(0, 20).join('\n')}`);
    return results;
  });
}
