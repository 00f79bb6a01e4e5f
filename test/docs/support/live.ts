import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { approve } from '../../support/member.ts';
import type { World } from '../../support/world.ts';
import { type Block, placeOf } from './markdown.ts';
import { ROOT } from './pages.ts';
import { isOfPrograms } from './programs.ts';
import { commandsIn } from './shell.ts';

/** A text of a page, with the addresses of a test's gate instead of the demo's. */
export function placedAt({ origin, admin }: Pick<World, 'origin' | 'admin'>, text: string): string {
  return text
    .replace(/http:\/\/(?:localhost|127\.0\.0\.1):8080/g, origin)
    .replace(/http:\/\/(?:localhost|127\.0\.0\.1):9090/g, admin);
}

/**
 * Whether a block is run against the demo: blocks with the comment `run`, and shell text that only sends requests to the
 * demo with curl. `run: not` excludes a block, and needs a reason after it.
 */
export function isRun({ file, language, text, markers }: Block): boolean {
  if (isOfPrograms(file)) return false;
  if (markers.some((marker) => /^run: not, .{10}/.test(marker))) return false;
  if (markers.some((marker) => /^run\b/.test(marker))) return ['sh', 'js', 'ts'].includes(language);
  if (language !== 'sh' || !/http:\/\/(?:localhost|127\.0\.0\.1):(?:8080|9090)/.test(text)) return false;
  const commands = commandsIn(text);
  return commands.length > 0 && commands.every(([program]) => program === 'curl');
}

/** The statuses that a comment allows for the responses of a block: `run: 401`. */
function expectedStatuses({ markers }: Block): readonly number[] {
  return markers.flatMap((marker) => [...(/^run: ([\d, ]+)$/.exec(marker)?.[1] ?? '').matchAll(/\d{3}/g)].map(Number));
}

/** The output and exit of a program. */
interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Longer than any program takes on a busy machine; they end by themselves. */
const LONGEST = 120_000;

/**
 * Runs a program that may print an authorization URL. A member of the demo then opens it, signs in and approves. The final
 * redirect is requested if something listens there, and otherwise typed into the program.
 */
export async function runAsReader(
  [program, ...args]: readonly [string, ...string[]],
  { origin }: World,
  environment: Readonly<Record<string, string>>,
  folder = ROOT,
): Promise<Ran> {
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...environment },
    timeout: LONGEST,
  });
  let stdout = '';
  let stderr = '';
  const opened = new Set<string>();
  const failures: unknown[] = [];
  child.stdin.on('error', () => undefined);
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    for (const [, url = ''] of stdout.matchAll(/(http:\/\/[^\s"/]+\/oauth\/authorize\?\S+)\s/g)) {
      if (!url.startsWith(origin) || opened.has(url)) continue;
      opened.add(url);
      goThrough(url).then(
        (returned) => void child.stdin.write(`${returned}\n`),
        (thrown: unknown) => {
          failures.push(thrown);
          child.kill('SIGTERM');
        },
      );
    }
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (failures.length > 0) throw failures[0];
  return { code, stdout, stderr };
}

async function goThrough(url: string): Promise<string> {
  const redirectUri = new URL(url).searchParams.get('redirect_uri') ?? '';
  const returned = await approve(url, redirectUri);
  if (['127.0.0.1', 'localhost'].includes(returned.hostname)) await fetch(returned).catch(() => undefined);
  return returned.href;
}

/**
 * Runs the blocks of a page in one shell, one after the other, like a reader who copies them. Every response to curl must
 * be successful or have a status that the block allows. Returns the output.
 */
export async function runShell(
  blocks: readonly Block[],
  world: World,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'coursegate-docs-'));
  try {
    // curl reads its settings there. They print each response's status in addition to the output.
    writeFileSync(
      join(home, '.curlrc'),
      'write-out = "%{stderr}status %{http_code} of %{url}\\n"\nno-progress-meter\n',
    );
    const script = blocks.map((block) => `echo '=== ${placeOf(block)}' >&2\n${placedAt(world, block.text)}`).join('\n');
    const ran = await runAsReader(['bash', '-euo', 'pipefail', '-c', script], world, {
      ...environment,
      CURL_HOME: home,
      HOME: home,
    });
    const statuses = [...ran.stderr.matchAll(/^(?:=== (\S+)|status (\d+) of (\S+))$/gm)];
    let at: Block | undefined;
    for (const [, place, status, url] of statuses) {
      if (place !== undefined) at = blocks.find((block) => placeOf(block) === place);
      else if (at !== undefined && (Number(status) >= 400 || Number(status) < 200)) {
        if (expectedStatuses(at).includes(Number(status))) continue;
        throw new Error(
          `${placeOf(at)}: ${url} answers ${status}. If that is meant: <!-- run: ${status} -->\n${ran.stdout}`,
        );
      }
    }
    if (ran.code !== 0)
      throw new Error(`${at === undefined ? '' : placeOf(at)}: ends with ${ran.code}\n${ran.stderr}${ran.stdout}`);
    return ran.stdout;
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** Runs a block as a module that can import the project's packages. Returns the output. */
export async function runModule(
  block: Block,
  world: World,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const cache = join(ROOT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'coursegate-docs-'));
  try {
    const file = join(folder, 'block.mjs');
    const text = placedAt(world, block.text);
    // Node does not strip types in files below node_modules, from where the packages are resolved.
    writeFileSync(file, block.language === 'ts' ? stripTypeScriptTypes(text) : text);
    const { code, stdout, stderr } = await runAsReader([process.execPath, '--no-warnings', file], world, environment);
    if (code !== 0) throw new Error(`${placeOf(block)}: ends with ${code}\n${stderr}${stdout}`);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
