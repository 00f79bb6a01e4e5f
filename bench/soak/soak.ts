import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { conditions, writeSection } from '../support/report.ts';
import { runTrial } from './trial.ts';
import { judge, markdown } from './verdict.ts';

const { values: options } = parseArgs({
  options: {
    store: { type: 'string', multiple: true, default: ['sqlite', 'redis'] },
    note: { type: 'string', default: '' },
    /** Path of a JSON file for all samples and counts. */
    json: { type: 'string' },
    snapshots: { type: 'boolean', default: false },
    'no-report': { type: 'boolean', default: false },
  },
});
const MINUTES = Number(process.env.COURSEGATE_SOAK_MINUTES ?? 60);
const PER_SECOND = Number(process.env.COURSEGATE_SOAK_RATE ?? 6);
if (!(MINUTES > 0 && MINUTES <= 24 * 60)) throw new RangeError('COURSEGATE_SOAK_MINUTES must be from 1 to 1440.');
/** A slope over a few minutes cannot be extrapolated to an hour. */
const SLOPED = MINUTES >= 30;

const say = (line: string) => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
const duration = MINUTES * 60_000;
const folder = mkdtempSync(join(tmpdir(), 'coursegate-soak-'));
const stop = { asked: false };
// The soak ends early, and reports what it has measured so far.
process.once('SIGTERM', () => {
  stop.asked = true;
});
process.once('SIGINT', () => {
  stop.asked = true;
});
// Ends the process even if something hangs. The gates notice and end too.
setTimeout(() => process.exit(1), duration + 20 * 60_000).unref();

const at = conditions();
const trial = (store: 'sqlite' | 'redis') =>
  runTrial({
    store,
    duration,
    sampleEvery: Math.min(10_000, duration / 20),
    illEvery: Math.min(600_000, duration / 3),
    perSecond: PER_SECOND,
    warmUps: 3,
    folder: join(folder, store),
    say,
    stopped: () => stop.asked,
    snapshots: options.snapshots,
  });
const stores = options.store.filter((name) => name === 'sqlite' || name === 'redis');
// If one trial fails, the other one continues.
const ended = await Promise.allSettled(stores.map(trial));
const outcomes = ended.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
const stopped = ended.flatMap((one) => (one.status === 'rejected' ? [`a trial failed: ${one.reason}`] : []));
if (options.snapshots) say(`the snapshots are in ${folder}`);
else rmSync(folder, { recursive: true, force: true });

if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(outcomes));
const broken = [...stopped, ...outcomes.flatMap((outcome) => judge(outcome, SLOPED).broken)];
const text = `${at.text}${options.note === '' ? '' : ` ${options.note}`}

\`npm run test:soak\`, COURSEGATE_SOAK_MINUTES=${MINUTES}: ${PER_SECOND} pieces of work per second at each gate: reads and writes
through the proxy, sign-ins with consent, codes, refreshes, short-lived event streams and WebSockets, the Account API, agents of
every MCP revision with and without a token, registrations, revocations, reuse of used tokens, invalid tokens, and missing pages. A
second gate is killed every ten minutes (on Redis, a replica behind HAProxy, alternating with Redis itself); afterwards every token
that was issued is tried. The heap is measured every ten seconds after two forced collections. Its slope is fitted to the last two
thirds, with a 95 % confidence interval from the means of twelve parts. "Held" is measured without clients.

${markdown(outcomes, SLOPED)}
`;
process.stdout.write(text);
if (!options['no-report'] && SLOPED) writeSection('Soak', text);
for (const line of stopped) say(line);
for (const { store, errors, troubles, counts, ills, faults } of outcomes) {
  say(`${store}: ${JSON.stringify({ counts, troubles, ills })}`);
  for (const line of [...faults, ...errors.map((error) => `logged: ${error}`)]) say(`${store}: ${line}`);
}
process.exit(broken.length > 0 ? 1 : 0);
