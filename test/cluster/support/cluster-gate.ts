import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { expect } from 'vitest';
import { type GateProcess, type GateProcessOptions, gateProcess } from '../../faults/gate-process.ts';

/** A gate of two workers, as processes of their own. */
export function clusterGate(options: GateProcessOptions = {}): Promise<GateProcess> {
  return gateProcess({
    ...options,
    environment: { COURSEGATE__CLUSTER: '{ workers: 2 }', ...options.environment },
  });
}

/** The processes that a process has started and not seen end, in the order in which it did. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** Whether a process runs: one that has ended and was not asked for does not. */
export function runs(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

export interface Kept {
  get(path: string, headers?: Record<string, string>): Promise<{ status: number; text: string }>;
  close(): void;
}

/** A connection that is kept, and so stays with the worker it was given to. */
export function keptConnection(origin: string): Kept {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    get: (path, headers = {}) =>
      new Promise((resolve, reject) => {
        const sent = request(`${origin}${path}`, { agent, headers }, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
          });
          response.once('error', reject);
          response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
        });
        sent.once('error', reject);
        sent.end();
      }),
    close: () => agent.destroy(),
  };
}

/** Connections that are handed out in turn: two of them are with two workers. */
export async function oneOfEach(origin: string): Promise<readonly [Kept, Kept, Kept, Kept]> {
  const kept = [
    keptConnection(origin),
    keptConnection(origin),
    keptConnection(origin),
    keptConnection(origin),
  ] as const;
  for (const one of kept) expect((await one.get('/.well-known/jwks.json')).status).toBe(200);
  return kept;
}

/** The value of one series, by its name with its labels; 0 when there is none. */
export async function metric(admin: string, series: string): Promise<number> {
  const one = keptConnection(admin);
  const answer = await one.get('/metrics');
  one.close();
  expect(answer.status).toBe(200);
  const line = answer.text.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}
