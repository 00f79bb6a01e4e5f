import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { processorTime } from '../support/cpu.ts';
import { type Goal, goalRows } from '../support/goals.ts';
import { conditions, report, table } from '../support/report.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    note: { type: 'string', default: '' },
    'no-report': { type: 'boolean', default: false },
  },
});
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'coursegate-start-'));

interface Start {
  /** Time and CPU time from the spawn to the line "coursegate ready", in milliseconds. */
  readonly wall: number;
  readonly cpu: number;
}

/** Starts the demo's configuration with a new store and additional environment variables. */
async function start(environment: Readonly<Record<string, string>>): Promise<Start> {
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [path('../../src/main.ts'), 'serve', '--config', path('../../config/coursegate.yaml')],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {
        PATH: process.env.PATH ?? '',
        PORT: '0',
        ADMIN_PORT: '0',
        COURSEGATE_DATA: mkdtempSync(join(folder, 'data-')),
        ...environment,
      },
    },
  );
  const exited = once(child, 'exit');
  let said = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    said += String(chunk);
    if (said.includes('coursegate ready')) break;
  }
  if (!said.includes('coursegate ready')) throw new Error('the gate did not become ready');
  const taken = { wall: performance.now() - began, cpu: processorTime([child.pid ?? 0]) / 1000 };
  // A normal exit, because Node writes its compile cache then.
  child.kill('SIGTERM');
  await exited;
  return taken;
}

const median = (values: readonly number[]) =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)];
const spread = (values: readonly number[]) =>
  `${median(values)?.toFixed(0)} (${Math.min(...values).toFixed(0)}–${Math.max(...values).toFixed(0)})`;

const at = conditions();
const ways = {
  'default settings': {},
  'with NODE_COMPILE_CACHE': { NODE_COMPILE_CACHE: join(folder, 'compiled') },
} as const;
const starts: Record<string, Start[]> = {};
try {
  // The first start of each kind reads from disk and fills the cache.
  for (let round = 0; round <= Number(options.rounds); round += 1) {
    for (const [way, environment] of Object.entries(ways)) {
      const taken = await start(environment);
      if (round > 0) starts[way] = [...(starts[way] ?? []), taken];
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const rows = Object.entries(starts).map(([way, all]) => [
  way,
  spread(all.map(({ wall }) => wall)),
  spread(all.map(({ cpu }) => cpu)),
]);
const goals: Goal[] = [
  {
    what: 'time from spawn to ready',
    most: 1500,
    unit: ' ms',
    measured: median((starts['default settings'] ?? []).map(({ wall }) => wall)),
  },
];
const text = `${at}${options.note === '' ? '' : ` ${options.note}`}

\`npm run bench:start\`: \`serve\` with the demo's configuration (Account API, tools, embedded store), from the spawn to the line
"coursegate ready": median (minimum–maximum) of ${options.rounds} starts, after a warm-up start.

${table(['start', 'time, ms', 'CPU time, ms'], rows)}

${table(['goal', 'at most', 'measured', ''], goalRows(goals))}
`;
if (options['no-report']) process.stdout.write(text);
else report('Start', text);
