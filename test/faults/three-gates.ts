import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type App, registerApp } from '../support/app.ts';
import { startBalancer } from '../support/balancer.ts';
import { type Answered, read } from '../support/connection.ts';
import { gateProcess, schoolOf } from './gate-process.ts';
import { insistently } from './patiently.ts';

/** The longest that a client tries, in milliseconds. Long enough for a store that fails over on a busy machine. */
const PATIENCE = 60_000;

/** How often the gates were killed and requests repeated, and the longest time without a token response. */
interface Trouble {
  gatesKilled: number;
  /** Why gates ended while they started. */
  readonly failedStarts: string[];
  repeated: number;
  /** Milliseconds. */
  outage: number;
}

/** Three gate processes on one store, behind a balancer. */
export interface ThreeGates {
  readonly app: App;
  readonly numbers: readonly number[];
  readonly trouble: Trouble;
  /**
   * Sends a request to gate `number`, or to any of them. After a 503 or a broken connection it is sent again, as clients
   * do; to another gate, unless there is a number.
   */
  ask(path: string, init: RequestInit, number?: number): Promise<Answered>;
  /** Kills a gate, and starts it again. */
  restart(number: number): Promise<void>;
  close(): Promise<void>;
}

/** @param store the value of `store` in the configuration, as YAML */
export async function threeGates(store: string, variables: Readonly<Record<string, string>>): Promise<ThreeGates> {
  const balancer = await startBalancer();
  const school = await schoolOf(balancer.origin);
  const environment = {
    COURSEGATE__STORE: store,
    COURSEGATE__SECRET: '{ env: TEST_SECRET }',
    COURSEGATE__TOKENS__REPLAYWINDOW: '60s',
    TEST_SECRET: 'k'.repeat(40),
    ...variables,
  };
  const gate = () => gateProcess({ origin: balancer.origin, school, environment });
  const gates = [await gate(), await gate(), await gate()];
  const numbers = gates.map((_, at) => at);
  await Promise.all(gates.map((one) => one.start()));
  balancer.serve(gates);
  await Promise.all(numbers.map((at) => balancer.seen(at, true)));

  const trouble = { gatesKilled: 0, failedStarts: [] as string[], repeated: 0, outage: 0 };
  let lastTokens: number | undefined;
  return {
    app: await registerApp(balancer.origin),
    numbers,
    trouble,
    async ask(path, init, number) {
      for (const began = performance.now(); ; ) {
        const gate = gates[number ?? randomInt(gates.length)];
        const answer = await fetch(`${gate?.listens}${path}`, init)
          .then((response) => read(response))
          .catch(() => undefined);
        const now = performance.now();
        if (answer?.body.refresh_token !== undefined) {
          trouble.outage = Math.max(trouble.outage, Math.round(now - (lastTokens ?? now)));
          lastTokens = now;
        }
        if (answer !== undefined && answer.status !== 503) return answer;
        if (now - began > PATIENCE) throw new Error(`${path} failed for ${PATIENCE} ms: ${JSON.stringify(answer)}`);
        trouble.repeated += 1;
        await sleep(20);
      }
    },
    async restart(number) {
      trouble.gatesKilled += 1;
      await gates[number]?.kill();
      // Tried again, as by an init system.
      await insistently(async () => {
        await gates[number]?.start().catch((thrown: unknown) => {
          trouble.failedStarts.push(String(thrown).slice(-400));
          throw thrown;
        });
      });
    },
    async close() {
      await Promise.all(gates.map((one) => one.close()));
      await school.close();
      await balancer.close();
    },
  };
}
