import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type GateProcess, gateProcess } from '../faults/gate-process.ts';
import { patiently } from '../faults/patiently.ts';
import { post } from '../faults/post.ts';
import { type App, registerApp } from '../support/app.ts';
import { runCommand } from '../support/command.ts';
import { connect, refreshForm, type Tokens, token } from '../support/connection.ts';
import { answerOk, type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { childrenOf, clusterGate, keptConnection, metric, runs } from './support/cluster-gate.ts';

const COUNT =
  'coursegate_http_request_duration_seconds_count{route="/api/v1/whoami",method="GET",status="401",verdict="refused"}';

describe('the workers of a gate', () => {
  let gate: GateProcess;
  let app: App;
  beforeAll(async () => {
    gate = await clusterGate({ environment: { COURSEGATE__TOKENS__REPLAYWINDOW: '60s' } });
    await gate.start();
    app = await registerApp(gate.origin);
  });
  afterAll(() => gate.close());

  const ready = async () => {
    const one = keptConnection(gate.admin);
    const { status } = await one.get('/readyz');
    one.close();
    return status;
  };
  const refused = async (times: number) => {
    for (let at = 0; at < times; at += 1) {
      const one = keptConnection(gate.origin);
      expect((await one.get('/api/v1/whoami')).status).toBe(401);
      one.close();
    }
  };
  const connected = async () => (await connect(app)) as unknown as Tokens;

  /** Clients that refresh and read, each on connections of its own, until told to stop. Out: what they hold at the end. */
  function underLoad(clients: readonly Tokens[], onLost: (what: string) => void) {
    let going = true;
    let requests = 0;
    const client = async (first: Tokens): Promise<Tokens> => {
      let held = first;
      while (going) {
        const form = refreshForm(app, held.refresh_token);
        const outcome = await post(String(app.server.token_endpoint), form).outcome;
        requests += 1;
        if (outcome.kind === 'lost' || outcome.status === 503) {
          onLost('refresh');
          // As a client should: the same again. What was done is answered the same.
          continue;
        }
        expect(outcome, 'signed out').toMatchObject({ status: 200 });
        held = outcome.body as unknown as Tokens;
        const one = keptConnection(gate.origin);
        const read = await one
          .get('/api/v1/whoami', { authorization: `Bearer ${held.access_token}` })
          .catch(() => undefined);
        one.close();
        requests += 1;
        if (read === undefined || read.status === 503) onLost('read');
        else expect(read.status, 'an acknowledged token').toBe(200);
      }
      return held;
    };
    const all = clients.map(client);
    return {
      requests: () => requests,
      async stop() {
        going = false;
        return Promise.all(all);
      },
    };
  }

  it('are replaced when they are killed under load, which costs what was in flight and nothing that was told', {
    timeout: 120_000,
  }, async () => {
    await refused(10);
    const counted = await metric(gate.admin, COUNT);
    expect(counted).toBeGreaterThanOrEqual(10);
    const exits = await metric(gate.admin, 'coursegate_worker_exits_total');
    const before = childrenOf(gate.pid());
    const clients = await Promise.all([connected(), connected(), connected(), connected()]);
    let lost = 0;
    const load = underLoad(clients, () => {
      lost += 1;
    });
    await expect.poll(load.requests, { timeout: 30_000 }).toBeGreaterThan(20);
    const [victim, other] = before as [number, number];
    process.kill(victim, 'SIGKILL');
    await expect.poll(() => runs(victim)).toBe(false);
    await expect.poll(ready, { interval: 50, timeout: 30_000 }).toBe(200);
    const enough = load.requests() + 20;
    await expect.poll(load.requests, { timeout: 30_000 }).toBeGreaterThan(enough);
    const held = await load.stop();

    // No client waits for more than one answer, so a kill cannot take more of them.
    expect(lost).toBeLessThanOrEqual(clients.length);
    for (const { refresh_token } of held)
      expect((await patiently(() => token(app, refreshForm(app, refresh_token)))).status).toBe(200);
    const after = childrenOf(gate.pid());
    expect(after).toHaveLength(2);
    expect(after).toContain(other);
    expect(after).not.toContain(victim);
    expect(await metric(gate.admin, 'coursegate_worker_exits_total')).toBe(exits + 1);
    // What the victim had told stays in the sum.
    expect(await metric(gate.admin, COUNT)).toBeGreaterThanOrEqual(counted);
    expect(gate.log()).toContain('a worker ended by itself: another takes its place');
  });

  it('are replaced one after the other on SIGUSR2, and not one request is lost', { timeout: 120_000 }, async () => {
    const before = childrenOf(gate.pid());
    // Counted by those who are about to leave, and asked of nobody before they do.
    const counted = (await metric(gate.admin, COUNT)) + 10;
    await refused(10);
    const clients = await Promise.all([connected(), connected(), connected(), connected()]);
    const lost: string[] = [];
    const load = underLoad(clients, (what) => lost.push(what));
    const unready: string[] = [];
    let looking = true;
    const look = (async () => {
      while (looking) {
        const one = keptConnection(gate.admin);
        const { status, text } = await one.get('/readyz');
        one.close();
        if (status !== 200) unready.push(text);
      }
    })();
    await expect.poll(load.requests, { timeout: 30_000 }).toBeGreaterThan(20);
    gate.signal('SIGUSR2');
    await expect.poll(() => before.some(runs), { timeout: 90_000, interval: 100 }).toBe(false);
    const enough = load.requests() + 20;
    await expect.poll(load.requests, { timeout: 30_000 }).toBeGreaterThan(enough);
    await load.stop();
    looking = false;
    await look;

    expect(lost).toEqual([]);
    expect(unready).toEqual([]);
    expect(childrenOf(gate.pid())).toHaveLength(2);
    // Their counts are in the sum still, to the last request.
    expect(await metric(gate.admin, COUNT)).toBe(counted);
    await refused(3);
    expect(await metric(gate.admin, COUNT)).toBe(counted + 3);
    await expect.poll(() => gate.log().includes('all workers were replaced')).toBe(true);
  });

  it('are not ready while one of them does not answer, and are when it does', async () => {
    const [still] = childrenOf(gate.pid()) as [number];
    process.kill(still, 'SIGSTOP');
    try {
      // The first connection may be handed to the one that stands still.
      const answers = await Promise.any(
        [1, 2, 3].map(async () => {
          const one = keptConnection(gate.admin);
          const answer = await one.get('/readyz');
          one.close();
          return answer;
        }),
      );
      expect(answers.status).toBe(503);
      expect(answers.text).toMatch(/^worker \d does not answer/);
    } finally {
      process.kill(still, 'SIGCONT');
    }
    await expect.poll(ready, { timeout: 30_000 }).toBe(200);
  });

  it('end when one is told to by itself, with what it has in flight, and it is replaced', async () => {
    const [leaving] = childrenOf(gate.pid()) as [number];
    process.kill(leaving, 'SIGTERM');
    await expect.poll(() => runs(leaving), { timeout: 30_000 }).toBe(false);
    await expect.poll(ready, { timeout: 30_000 }).toBe(200);
    expect(childrenOf(gate.pid())).toHaveLength(2);
  });

  it('go on when SIGHUP has the configuration read again', async () => {
    const series = 'coursegate_config_last_reload_timestamp_seconds';
    const before = await metric(gate.admin, series);
    await expect.poll(() => Math.floor(Date.now() / 1000), { timeout: 5_000 }).toBeGreaterThan(before);
    gate.signal('SIGHUP');
    await expect.poll(() => metric(gate.admin, series), { timeout: 30_000 }).toBeGreaterThan(before);
    expect(await metric(gate.admin, 'coursegate_config_last_reload_successful')).toBe(1);
    await refused(4);
  });

  it('keep a second gate off their store, one process or several', async () => {
    for (const more of [[], ['--workers', '2']]) {
      const second = runCommand(['serve', '--config', 'config/coursegate.yaml', ...more], {
        PORT: '0',
        ADMIN_PORT: '0',
        COURSEGATE_DATA: gate.data,
      });
      expect(await second.exited).toBe(1);
      expect(second.stdout()).toBe('');
      expect(second.stderr()).toMatch(/^The store \S+coursegate\.db is in use by another coursegate /);
      expect(second.stderr().match(/is in use/g)).toHaveLength(1);
    }
    expect(await ready()).toBe(200);
    await refused(4);
  });

  it('end with a primary that is killed, and leave the store to the next', { timeout: 90_000 }, async () => {
    const workers = childrenOf(gate.pid());
    const { refresh_token } = await connected();
    await gate.kill();
    await expect.poll(() => workers.some(runs), { interval: 20 }).toBe(false);
    await gate.start();
    expect((await token(app, refreshForm(app, refresh_token))).status).toBe(200);
    // And one process alone opens what several have written.
    await gate.kill();
    const alone = await gateProcess({ data: gate.data });
    await expect
      .poll(
        async () =>
          alone.start().then(
            () => true,
            () => false,
          ),
        { timeout: 30_000 },
      )
      .toBe(true);
    await alone.close();
  });
});

describe('several workers that are told to stop', () => {
  let upstream: RecordingUpstream;
  let gate: GateProcess;
  beforeEach(async () => {
    upstream = await startRecordingUpstream();
  });
  afterEach(async () => {
    await gate.close();
    await upstream.close();
  });

  it('end what is in flight at each, and then the gate exits 0', async () => {
    gate = await clusterGate({
      profile: 'B',
      environment: { COURSEGATE__UPSTREAMS__SCHOOL__URL: upstream.url, COURSEGATE__LISTEN__DRAIN: '{ grace: 60s }' },
    });
    await gate.start();
    const workers = childrenOf(gate.pid());
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    upstream.script(async (incoming, response, recorded) => {
      await held;
      return answerOk(incoming, response, recorded);
    });
    const kept = Array.from({ length: 6 }, () => keptConnection(gate.origin));
    const answers = kept.map((one) => one.get('/api/v1/courses'));
    await expect.poll(() => upstream.requests.length).toBe(6);
    gate.signal('SIGTERM');
    await expect.poll(async () => (await fetch(`${gate.admin}/readyz`)).status, { interval: 20 }).toBe(503);
    expect(workers.every(runs)).toBe(true);
    release();
    for (const answer of answers) expect(await answer).toEqual({ status: 200, text: '{"ok":true}' });
    expect(await gate.exited()).toBe(0);
    expect(workers.some(runs)).toBe(false);
    for (const one of kept) one.close();
  });

  it('cut what does not end in time, within the time that was set', async () => {
    gate = await clusterGate({
      profile: 'B',
      environment: { COURSEGATE__UPSTREAMS__SCHOOL__URL: upstream.url, COURSEGATE__LISTEN__DRAIN: '{ grace: 500ms }' },
    });
    await gate.start();
    upstream.script(() => undefined);
    const one = keptConnection(gate.origin);
    const answer = one.get('/api/v1/courses').catch(() => 'cut');
    await expect.poll(() => upstream.requests.length).toBe(1);
    gate.signal('SIGTERM');
    expect(await gate.exited()).toBe(0);
    expect(await answer).toBe('cut');
    one.close();
  });
});
