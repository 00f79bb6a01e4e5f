import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { BENCHES, type Bench } from './benches.ts';
import { table } from './support/report.ts';
import { missingTools } from './support/tools.ts';

/**
 * `npm run bench` runs all benches that write, within an hour. `npm run bench -- NAME... [OPTION...]` runs those, and passes the
 * rest on to each. If one fails, the others run, and the exit code is 1.
 */
const all = new Map<string, Bench>(Object.entries(BENCHES));
const args = process.argv.slice(2);
const named = args.findIndex((one) => !all.has(one));
const names = named === -1 ? args : args.slice(0, named);
const rest = args.slice(names.length);
if (names.length === 0 && rest[0] !== undefined && !rest[0].startsWith('-')) {
  process.stderr.write(`No bench is called ${rest[0]}. There are: ${[...all.keys()].join(', ')}.\n`);
  process.exit(2);
}
const asked = [...all].filter(([name, { minutes }]) =>
  names.length === 0 ? minutes !== undefined : names.includes(name),
);
const missing = missingTools(asked.flatMap(([, { needs }]) => needs));
if (missing !== undefined) {
  process.stderr.write(`${missing}\n`);
  process.exit(1);
}

let stopped = false;
const rows: string[][] = [];
for (const [name, { file, minutes, node = [] }] of asked) {
  process.stderr.write(`\n${name}${minutes === undefined ? '' : `, up to ${minutes} minutes`}\n`);
  const began = performance.now();
  const child = spawn(process.execPath, [...node, fileURLToPath(new URL(file, import.meta.url)), ...rest], {
    stdio: 'inherit',
  });
  const stop = (signal: NodeJS.Signals) => {
    stopped = true;
    child.kill(signal);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const [code, signal] = await once(child, 'exit');
  process.off('SIGINT', stop).off('SIGTERM', stop);
  const took = ((performance.now() - began) / 60_000).toFixed(1);
  rows.push([name, took, String(minutes ?? ''), code === 0 ? '' : `failed with ${code ?? signal}`]);
  if (code !== 0) process.exitCode = 1;
  if (stopped) break;
}
const total = rows.reduce((sum, [, took]) => sum + Number(took), 0).toFixed(1);
const budget = asked.reduce((sum, [, { minutes = 0 }]) => sum + minutes, 0);
process.stdout.write(`\n${table(['bench', 'minutes', 'budget', ''], [...rows, ['all', total, String(budget), '']])}\n`);
