import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type App, postForm, registerApp } from '../support/app.ts';
import { approved, token as askToken, connect, refreshForm, type Tokens } from '../support/connection.ts';
import type { Family } from './families.ts';
import type { GateProcess } from './gate-process.ts';
import { insistently, patiently } from './patiently.ts';
import { type Outcome, type Posted, post } from './post.ts';

/** By default each moment comes at least once; `npm run test:faults` runs 500 rounds. */
const ROUNDS = Number(process.env.COURSEGATE_FAULT_ROUNDS ?? 8);
const ROUND_LIMIT = 30_000;

/** When the process is killed, relative to the requests in progress. */
const MOMENTS = ['at random', 'at the first byte', 'before the first byte', 'amid the answers'] as const;

/** The process to kill, and its store. */
export interface Victim {
  readonly gate: GateProcess;
  /** The content of the store after the gate was killed. */
  families(): Promise<readonly Family[]>;
  /**
   * Other faults by name. Each is awaited while requests are in progress and must leave the gate dead, even if `done`
   * resolves first, at the last response.
   */
  readonly ills: Readonly<Record<string, (done: Promise<unknown>) => Promise<void>>>;
  close(): Promise<void>;
}

type Form = Record<string, string | undefined>;

const tokensOf = (outcome: Outcome): Tokens | undefined =>
  outcome.kind === 'answered' && outcome.status === 200 ? (outcome.body as unknown as Tokens) : undefined;

/** Kills a gate repeatedly while it issues, rotates and revokes, and checks each round against the clients' responses. */
export function crashRounds(open: () => Promise<Victim>): void {
  let victim: Victim;
  let gate: GateProcess;
  let app: App;
  /** The app's connections that were acknowledged and not revoked since. */
  let held: Tokens[] = [];
  const counts = { acknowledged: 0, lost: 0, lostAndDone: 0, lostAndUndone: 0 };
  /** Recent times in milliseconds from sending a request to the first byte of the response. */
  let latency = 10;

  beforeAll(async () => {
    victim = await open();
    gate = victim.gate;
    await gate.start();
    app = await registerApp(gate.origin);
  });
  afterAll(async () => {
    await victim.close();
    process.stdout.write(`${ROUNDS} kills: ${JSON.stringify(counts)}\n`);
  });

  // The test checks tokens, not how soon a store recovers after it was killed.
  const token = (...given: Parameters<typeof askToken>) => patiently(() => askToken(...given));
  const isActive = async ({ access_token }: Tokens): Promise<boolean> => {
    const { server, client } = app;
    const form = { token: access_token, client_id: client.client_id };
    const answer = await patiently(() => postForm(server.introspection_endpoint, form));
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { active: boolean }).active;
  };
  const redeemForm = async (): Promise<Form> => (await insistently(() => approved(app))).form;
  const connected = async () => (await insistently(() => connect(app))) as unknown as Tokens;
  /** If the store dies during a request, the response is 503 and the outcome is unknown as well. */
  const count = (outcome: Outcome): Outcome => {
    const lost =
      outcome.kind === 'lost' || (outcome.status === 503 && outcome.body.error === 'temporarily_unavailable');
    counts[lost ? 'lost' : 'acknowledged'] += 1;
    return lost ? { kind: 'lost' } : outcome;
  };

  const killAt = async (moment: string, inFlight: readonly Posted[]) => {
    const ill = victim.ills[moment];
    if (ill !== undefined) return ill(Promise.all(inFlight.map(({ outcome }) => outcome)));
    const started = performance.now();
    const first = Promise.race(inFlight.map(({ begun }) => begun));
    if (moment === 'at the first byte') {
      await first;
      latency = performance.now() - started;
    } else if (moment === 'amid the answers') {
      await first;
      await sleep(Math.random() * 8);
    } else if (moment === 'before the first byte') {
      await Promise.race([first, sleep(Math.max(0, latency - Math.random() * 3))]);
    } else {
      await sleep(randomInt(0, 16));
    }
    await gate.kill();
  };

  const round = async (moment: string) => {
    while (held.length < 5) held.push(await connected());
    const codes = await Promise.all([redeemForm(), redeemForm(), redeemForm()]);
    const [cut, untouched, ...refreshed] = held as [Tokens, Tokens, ...Tokens[]];
    const tokenUrl = String(app.server.token_endpoint);
    // A first request loads and compiles the code; without it, all requests would die before they begin.
    await token(app, refreshForm(app, 'warm'));

    const redeeming = codes.map((form) => post(tokenUrl, form));
    const refreshing = refreshed.map(({ refresh_token }) => post(tokenUrl, refreshForm(app, refresh_token)));
    const form = { client_id: app.client.client_id, token: cut.refresh_token };
    const revoking = post(String(app.server.revocation_endpoint), form);
    await killAt(moment, [...redeeming, ...refreshing, revoking]);
    const redeemed = (await Promise.all(redeeming.map(({ outcome }) => outcome))).map(count);
    const rotated = (await Promise.all(refreshing.map(({ outcome }) => outcome))).map(count);
    const revoked = count(await revoking.outcome);

    // No partial commits: a used code has tokens, an unused one has none, and a grant has one refresh token.
    const families = await victim.families();
    for (const family of families) {
      expect(family.codes + family.refresh_tokens, JSON.stringify(family)).toBeLessThanOrEqual(1);
      if (family.codes === 1) expect(family.access_tokens, JSON.stringify(family)).toBe(0);
    }
    const lost = redeemed.filter(({ kind }) => kind === 'lost').length;
    const undone = families.filter(({ codes: unused }) => unused === 1).length;
    expect(undone).toBeLessThanOrEqual(lost);
    counts.lostAndUndone += undone;
    counts.lostAndDone += lost - undone;
    await gate.start();

    held = [];
    expect(await isActive(untouched)).toBe(true);

    for (const [at, outcome] of rotated.entries()) {
      const before = refreshed[at] as Tokens;
      const answered = tokensOf(outcome);
      if (outcome.kind === 'answered') expect(outcome).toMatchObject({ status: 200 });
      const again = await token(app, refreshForm(app, before.refresh_token));
      expect(again, `signed out by a kill ${moment}`).toMatchObject({ status: 200 });
      // This holds however long the restart took; only the access token's remaining lifetime is shorter.
      if (answered !== undefined) expect(again.body).toEqual({ ...answered, expires_in: expect.any(Number) });
      expect(await isActive(again.body)).toBe(true);
      held.push(again.body);
    }

    const known = await token(app, refreshForm(app, untouched.refresh_token));
    expect(known.status).toBe(200);
    held.push(known.body);

    if (revoked.kind === 'answered') expect(revoked.status).toBe(200);
    else expect((await post(String(app.server.revocation_endpoint), form).outcome).kind).toBe('answered');
    expect(await isActive(cut)).toBe(false);
    expect(await token(app, refreshForm(app, cut.refresh_token))).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });

    let retriable = 0;
    for (const [at, outcome] of redeemed.entries()) {
      const answered = tokensOf(outcome);
      const code = codes[at] as Form;
      if (outcome.kind === 'answered') expect(outcome).toMatchObject({ status: 200 });
      if (answered !== undefined) {
        expect(await isActive(answered)).toBe(true);
        const next = await token(app, refreshForm(app, answered.refresh_token));
        expect(next.status).toBe(200);
        // The last connection is kept for later rounds; the codes of the others are sent again.
        if (at === codes.length - 1) held.push(next.body);
        else expect((await token(app, code)).status).toBe(400);
        continue;
      }
      const retried = await token(app, code);
      if (retried.status === 200) {
        retriable += 1;
        expect(await isActive(retried.body)).toBe(true);
      }
      expect(await token(app, code), 'a second set').toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    }
    expect(retriable, `codes lost by a kill ${moment}`).toBe(undone);
  };

  it(`${ROUNDS} times, keeps everything acknowledged, ends no connection, issues tokens once per code, and restores nothing revoked`, {
    timeout: ROUNDS * ROUND_LIMIT,
  }, async () => {
    const moments = [...Object.keys(victim.ills), ...MOMENTS];
    for (let at = 0; at < ROUNDS; at += 1) {
      const moment = moments[at % moments.length] ?? 'at random';
      await round(moment).catch((thrown: unknown) => {
        throw new Error(`round ${at}, killed ${moment}; the gate's log: ${gate.log().slice(-4000)}`, { cause: thrown });
      });
    }
    // Kills that interrupt no request, or every request, would prove nothing.
    expect(counts.lost).toBeGreaterThan(ROUNDS);
    expect(counts.acknowledged).toBeGreaterThan(ROUNDS / 5);
  });
}
