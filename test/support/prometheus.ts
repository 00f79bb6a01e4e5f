import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missing } from './missing.ts';
import { freePort } from './world.ts';

/**
 * Whether the tests with a real Prometheus can run. Without one they are skipped with a message that names what to
 * install. In CI this is an error, so that a green run means they ran.
 */
export function prometheusPresent(): boolean {
  try {
    for (const program of ['prometheus', 'promtool']) execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return missing('no prometheus found: its tests need one (apt-get install --no-install-recommends prometheus)');
  }
}

export interface Prometheus {
  readonly url: string;
  /**
   * Evaluates an expression and returns the number of series it gives now.
   * @throws Error with Prometheus's message when the expression is invalid.
   */
  query(expression: string): Promise<number>;
  /** Gets one of Prometheus's own endpoints. */
  get<T>(path: string): Promise<T>;
  close(): Promise<void>;
}

/** Starts a separate Prometheus that scrapes these addresses every second and evaluates these rules. */
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
      // NaN, such as 0 divided by 0, counts as no data.
      return answer.data.result.filter(({ value }) => value[1] !== 'NaN').length;
    },
    close,
  };
}
