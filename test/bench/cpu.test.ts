import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { cpuMeter, processorTime } from '../../bench/support/cpu.ts';

/** Waits for a line, and uses 400 ms of CPU time in a second thread. Prints what the process itself says that it used. */
const BURN = `
const { Worker } = require('node:worker_threads');
const burn = () => { const from = process.cpuUsage(); const used = () => process.cpuUsage(from);
  while (used().user + used().system < 400_000); };
const worker = new Worker('const { parentPort } = require("node:worker_threads"); const burn = ' + burn +
  '; parentPort.on("message", () => { burn(); parentPort.postMessage("done"); });', { eval: true });
worker.once('online', () => process.stdout.write('online'));
process.stdin.once('end', () => process.exit());
process.stdin.once('data', () => { const from = process.cpuUsage(); worker.postMessage('go');
  worker.once('message', () => { const { user, system } = process.cpuUsage(from); process.stdout.write(String(user + system)); }); });
`;

describe('the CPU time of a process', () => {
  it('is that of all its threads, and of the processes it started', async () => {
    // A shell in between: the process that works is a descendant.
    const args = ['-c', '"$0" -e "$1"; true', process.execPath, BURN];
    const { stdout, stdin, pid = 0 } = spawn('sh', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const said = async () => String((await once(stdout, 'data'))[0]);
    expect(await said()).toBe('online');
    const used = cpuMeter([pid]);
    stdin.write('go\n');
    const own = Number(await said());
    const measured = used();
    expect(own).toBeGreaterThanOrEqual(400_000);
    expect(measured).toBeGreaterThan(own * 0.95);
    expect(measured).toBeLessThan(own * 1.25);
    expect(processorTime([pid])).toBeGreaterThan(measured);
    stdin.end();
  });

  it('is finer than the clock ticks of /proc/<pid>/stat', () => {
    const used = cpuMeter([process.pid]);
    const until = performance.now() + 3;
    while (performance.now() < until);
    expect(used()).toBeGreaterThan(0);
    expect(used() % 10_000).not.toBe(0);
  });
});
