import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './world.ts';

/**
 * Whether tests on a real Prometheus run. Without one they are skipped by name, with what to install; in CI that is a
 * failure, since a green run must mean that they ran.
 */
export function prometheusPresent(): boolean {
  try {
    for (const program of ['prometheus', 'promtool']) execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    const advice = 'no prometheus found: its tests need one (apt-get install --no-install-recommends prometheus)';
    if (process.env.CI) throw new Error(advice);
    console.warn(`SKIPPED: ${advice}`);
    return false;
  }
}

export interface Prometheus {
  readonly url: string;
  /** Out: how many series an expression gives now. Throws what is wrong with it. */
  query(expression: string): Promise<number>;
  /** What one of its own pages answers. */
  get<T>(path: string): Promise<T>;
  close(): Promise<void>;
}

/** A Prometheus of its own that scrapes these addresses every second, with these rules. */
export async function startPrometheus(targets: readonly string[], rules: readonly string[] = []): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-prometheus-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: rules,
    scrape_configs: [{ job_name: 'coursegate', static_configs: [{ targets }] }],
  };
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const child: ChildProcess = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const close = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (;;) {
    if (child.exitCode !== null) throw new Error(`prometheus ended: ${said}`);
    const ready = await fetch(`${url}/-/ready`).then(
      (answer) => answer.arrayBuffer().then(() => answer.ok),
      () => false,
    );
    if (ready) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const get = async <T>(path: string): Promise<T> => (await (await fetch(url + path)).json()) as T;
  return {
    url,
    get,
    async query(expression) {
      const answer = await get<{ status: string; error?: string; data: { result: { value: [number, string] }[] } }>(
        `/api/v1/query?query=${encodeURIComponent(expression)}`,
      );
      if (answer.status !== 'success') throw new Error(`${expression}: ${answer.error}`);
      // A ratio of nothing is no data either.
      return answer.data.result.filter(({ value }) => value[1] !== 'NaN').length;
    },
    close,
  };
}
