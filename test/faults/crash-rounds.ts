import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type App, postForm, registerApp } from '../support/app.ts';
import { approved, token as askToken, connect, refreshForm, type Tokens } from '../support/connection.ts';
import type { Family } from './families.ts';
import type { GateProcess } from './gate-process.ts';
import { insistently, patiently } from './patiently.ts';
import { type Outcome, type Posted, post } from './post.ts';

/** A short form by default; the whole one is `npm run test:faults`. */
const ROUNDS = Number(process.env.COURSEGATE_FAULT_ROUNDS ?? 15);
const ROUND_LIMIT = 30_000;

/** When the process is killed, seen from the requests that are in flight. */
const MOMENTS = ['at random', 'at the first byte', 'before the first byte', 'amid the answers'] as const;

/** What is to be killed, on its store. */
export interface Victim {
  readonly gate: GateProcess;
  /** What the store holds, once the gate is dead. */
  families(): Promise<readonly Family[]>;
  /**
   * Other things that can happen, by name: each is awaited while the requests are in flight, and leaves the gate dead, also
   * when `done` resolves, with their last answer, before it came to that.
   */
  readonly ills: Readonly<Record<string, (done: Promise<unknown>) => Promise<void>>>;
  close(): Promise<void>;
}

type Form = Record<string, string | undefined>;

const tokensOf = (outcome: Outcome): Tokens | undefined =>
  outcome.kind === 'answered' && outcome.status === 200 ? (outcome.body as unknown as Tokens) : undefined;

/** Rounds of killing a gate while it issues, rotates and revokes; each is judged by what its clients were told. */
export function crashRounds(open: () => Promise<Victim>): void {
  let victim: Victim;
  let gate: GateProcess;
  let app: App;
  /** Connections that the app holds: what was acknowledged and not cut off since. */
  let held: Tokens[] = [];
  const counts = { acknowledged: 0, lost: 0, lostAndDone: 0, lostAndUndone: 0 };
  /** Milliseconds from sending to the first byte, lately. */
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

  // What is judged is what became of tokens, not how soon a store is well again after it was killed.
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
  /** A store that died under a request is a 503, and then nobody knows what came of it either. */
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
    // A first request has loaded and compiled what the killed ones run through: without it all would die unbegun.
    await token(app, refreshForm(app, 'warm'));

    const redeeming = codes.map((form) => post(tokenUrl, form));
    const refreshing = refreshed.map(({ refresh_token }) => post(tokenUrl, refreshForm(app, refresh_token)));
    const form = { client_id: app.client.client_id, token: cut.refresh_token };
    const revoking = post(String(app.server.revocation_endpoint), form);
    await killAt(moment, [...redeeming, ...refreshing, revoking]);
    const redeemed = (await Promise.all(redeeming.map(({ outcome }) => outcome))).map(count);
    const rotated = (await Promise.all(refreshing.map(({ outcome }) => outcome))).map(count);
    const revoked = count(await revoking.outcome);

    // Nothing half done: a code that is used has its tokens, one that is not has none; one refresh token to a grant.
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
      // However long the restart took; then the access token has less time left.
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

    for (const [at, outcome] of redeemed.entries()) {
      const answered = tokensOf(outcome);
      const code = codes[at] as Form;
      if (outcome.kind === 'answered') expect(outcome).toMatchObject({ status: 200 });
      if (answered !== undefined) {
        expect(await isActive(answered)).toBe(true);
        if (at > 0) {
          const same = { ...answered, expires_in: expect.any(Number) };
          expect((await token(app, code)).body, 'a second set').toEqual(same);
        }
        const next = await token(app, refreshForm(app, answered.refresh_token));
        expect(next.status).toBe(200);
        // The last one is kept for the rounds to come; the others' codes are shown after their tokens were used.
        if (at === codes.length - 1) held.push(next.body);
        else expect((await token(app, code)).status).toBe(400);
        continue;
      }
      const retried = await token(app, code);
      expect(retried, `must sign in again after a kill ${moment}`).toMatchObject({ status: 200 });
      expect(await isActive(retried.body)).toBe(true);
      const same = { ...retried.body, expires_in: expect.any(Number) };
      expect((await token(app, code)).body, 'a second set').toEqual(same);
    }
  };

  it(`${ROUNDS} times, loses nothing acknowledged, signs nobody out, gives no second set and revives nothing`, {
    timeout: ROUNDS * ROUND_LIMIT,
  }, async () => {
    const moments = [...Object.keys(victim.ills), ...MOMENTS];
    for (let at = 0; at < ROUNDS; at += 1) {
      const moment = moments[at % moments.length] ?? 'at random';
      await round(moment).catch((thrown: unknown) => {
        throw new Error(`round ${at}, killed ${moment}; the gate's log: ${gate.log().slice(-4000)}`, { cause: thrown });
      });
    }
    // Kills that hit nothing, or everything, would prove nothing.
    expect(counts.lost).toBeGreaterThan(ROUNDS);
    expect(counts.acknowledged).toBeGreaterThan(ROUNDS / 5);
  });
}
