import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { BENCHES, type Bench } from '../../bench/benches.ts';
import { missingTools } from '../../bench/support/tools.ts';

const MAIN = fileURLToPath(new URL('../../bench/main.ts', import.meta.url));

describe('npm run bench', () => {
  it('takes an hour at most', () => {
    const minutes = Object.values<Bench>(BENCHES).map((bench) => bench.minutes ?? 0);
    expect(minutes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(60);
  });

  it('names all missing tools at once, with the command that installs them', () => {
    const nothing = () => undefined;
    expect(missingTools(['wrk', 'go', 'wrk'], nothing)).toBe(
      'not installed: wrk, go. On Debian: apt-get install --no-install-recommends wrk golang-go',
    );
    expect(missingTools(['wrk', 'go'], (name) => (name === 'go' ? '/usr/bin/go' : undefined))).toContain(
      'not installed: wrk. ',
    );
    expect(missingTools(['wrk'], () => '/usr/bin/wrk')).toBeUndefined();
  });

  it('runs the others when one fails, passes options on, and says so by its exit code', () => {
    const { status, stdout } = spawnSync(process.execPath, [MAIN, 'start', 'refreshes', '--no-such-option'], {
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /^\| start \| 0\.0 \| \d+ \| failed with 1 \|\n\| refreshes \| 0\.0 \| {2}\| failed with 1 \|$/m,
    );
  });

  it('lists the benches when it is asked for another', () => {
    const { status, stderr } = spawnSync(process.execPath, [MAIN, 'everything'], { encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stderr).toContain('No bench is called everything. There are: start, console, account,');
  });
});
