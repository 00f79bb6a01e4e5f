import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { RequestRecord } from '../../src/http/request-record.ts';
import { RequestsInFlight } from '../../src/http/requests-in-flight.ts';
import { LatencyHistogram } from '../../src/operations/latency-histogram.ts';
import { createMetrics } from '../../src/operations/metrics.ts';
import { authorizationRequest, bearer, postForm, registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { approved, connect as connectApp, refreshForm, statusOf, token } from '../support/connection.ts';
import { reachConsent } from '../support/member.ts';
import { rawRequest } from '../support/raw.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

const REQUESTS = 'coursegate_http_request_duration_seconds';

describe('the metrics', () => {
  let world: World;
  let upstream: RecordingUpstream;
  beforeAll(async () => {
    upstream = await startRecordingUpstream();
    world = await startWorld({
      profile: 'B',
      overrides: {
        upstreams: { school: { url: upstream.url } },
        constants: { upstreams: { school: { breaker: { cooldown: 3 } } } },
      },
    });
  });
  afterAll(async () => {
    await world.close();
    await upstream.close();
  });

  const scrape = async () => (await fetch(`${world.admin}/metrics`)).text();
  /** The value of the one series whose line has this prefix; 0 if there is none. */
  const value = async (series: string) => {
    const lines = (await scrape()).split('\n').filter((line) => line.startsWith(`${series} `));
    expect(lines.length).toBeLessThanOrEqual(1);
    return Number(lines[0]?.slice(series.length + 1) ?? 0);
  };
  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    rawRequest(world.origin, { path, headers, method });

  it('include a series for every sign-in outcome before the first sign-in', async () => {
    const series = (await scrape()).matchAll(/^coursegate_sign_ins_total\{connector="session",outcome="(\w*)"\}/gm);
    expect([...series].map(([, outcome]) => outcome).toSorted()).toEqual([
      'account_closed',
      'account_not_allowed',
      'cancelled',
      'login_unavailable',
      'not_as_asked_for',
      'not_signed_in',
      'proof_refused',
      'store_unavailable',
      'success',
      'suspended',
      'too_many_attempts',
      'wrong_credentials',
    ]);
  });

  it('have a help text each, and no text is left over', async () => {
    const explained = (await scrape()).matchAll(/^# HELP (coursegate_\w+) \w/gm);
    const texts = parse(readFileSync(new URL('../../src/operations/metrics.yaml', import.meta.url), 'utf8'));
    expect([...explained].map(([, name]) => name).toSorted()).toEqual(Object.keys(texts).toSorted());
  });

  it('are served on the admin listener only, in the Prometheus text format', async () => {
    const answer = await fetch(`${world.admin}/metrics`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await answer.text();
    for (const line of text.trim().split('\n')) {
      expect(line).toMatch(
        /^(|# (HELP|TYPE) [a-z0-9_]+ .+|[a-z0-9_]+(\{([a-z0-9_]+="[^"\n]*",?)*\})? [-+.0-9eNaInf]+)$/,
      );
    }
    expect(text).toMatch(/^process_cpu_user_seconds_total [0-9.]+$/m);
    expect(text).toMatch(/^coursegate_config_info\{fingerprint="[\w-]{8,}"\} 1$/m);
    expect(text).toMatch(/^coursegate_config_last_reload_successful 1$/m);
    expect(text).toMatch(/^coursegate_access_log_dropped_lines_total 0$/m);
    expect(text).toMatch(/^coursegate_tokens_unused_total 0$/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_seconds [0-9.e-]+$/m);
    const before = upstream.requests.length;
    await get('/metrics');
    // On the public listener, the path belongs to the site, like any other.
    expect(upstream.requests.length).toBe(before + 1);
    expect(upstream.last().target).toBe('/metrics');
  });

  it('count requests by route, method and status, with cumulative duration buckets', async () => {
    const series = 'route="/api/v1/courses/**",method="GET",status="200",verdict="anonymous"';
    const before = await value(`${REQUESTS}_count{${series}}`);
    await get('/openapi.json');
    await get('/api/v1/courses/1');
    await get('/api/v1/courses/2');
    await expect.poll(() => value(`${REQUESTS}_count{${series}}`)).toBe(before + 2);
    const text = await scrape();
    const buckets = [...text.matchAll(new RegExp(`${REQUESTS}_bucket\\{(.*),le="([^"]+)"\\} (\\d+)`, 'g'))]
      .filter(([, labels]) => labels === series)
      .map(([, , bound, count]) => [bound, Number(count)] as const);
    expect(buckets.at(-1)).toEqual(['+Inf', before + 2]);
    expect(buckets.map(([, count]) => count)).toEqual(buckets.map(([, count]) => count).toSorted((a, b) => a - b));
    expect(await value(`${REQUESTS}_sum{${series}}`)).toBeGreaterThan(0);
    expect(text).toContain(
      'coursegate_upstream_response_seconds_count{upstream="school",route="/api/v1/courses/**",status="200"}',
    );
    // The gate answered one of them itself.
    expect(text).not.toMatch(/coursegate_upstream_response_seconds_count\{upstream=""/);
  });

  it('count a duration in the first bucket whose bound it does not exceed, apart for each label', async () => {
    const bounds = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000];
    const histogram = new LatencyHistogram({ name: 'h', help: 'H' }, ['a', 'b', 'c', 'd']);
    for (const bound of bounds) for (const more of [0, 0.001]) histogram.observe(bound + more, 'a', 'b', 'c', 4);
    histogram.observe(1, 'A', 'b', 'c', 4);
    histogram.observe(1, 'a', 'B', 'c', 4);
    histogram.observe(1, 'a', 'b', 'C', 4);
    histogram.observe(1, 'a', 'b', 'c', 5);
    const { values, ...rest } = await histogram.get();
    expect(rest).toEqual({ name: 'h', help: 'H', type: 'histogram' });
    const labels = { a: 'a', b: 'b', c: 'c', d: '4' };
    const buckets = [...bounds.map((bound) => String(bound / 1000)), '+Inf'];
    const [sum, count, ...others] = values.slice(buckets.length);
    expect(values.slice(0, buckets.length)).toEqual(
      buckets.map((le, at) => ({ metricName: 'h_bucket', labels: { ...labels, le }, value: Math.min(2 * at + 1, 26) })),
    );
    const total = bounds.reduce((all, bound) => all + 2 * bound + 0.001, 0) / 1000;
    expect(sum).toEqual({ metricName: 'h_sum', labels, value: expect.closeTo(total) });
    expect(count).toEqual({ metricName: 'h_count', labels, value: 26 });
    expect(others.filter(({ metricName, value }) => metricName === 'h_count' && value === 1)).toHaveLength(4);
  });

  it('count a slow response in a high bucket', async () => {
    upstream.script(async (_request, response) => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      response.end('late');
    });
    await get('/api/v1/ticks', {}, 'GET');
    upstream.script((_request, response) => void response.end('{}'));
    const series = 'route="/api/v1/ticks",method="GET",status="200",verdict="anonymous"';
    await expect.poll(() => value(`${REQUESTS}_bucket{${series},le="10"}`)).toBe(1);
    expect(await value(`${REQUESTS}_bucket{${series},le="0.05"}`)).toBe(0);
    expect(await value(`${REQUESTS}_sum{${series}}`)).toBeGreaterThanOrEqual(0.05);
  });

  it('get no new series from ten thousand random paths and methods', async () => {
    const ask = (at: number) =>
      Promise.all([
        get(`/random/${at}/${Math.random()}`),
        get(`/api/v1/courses/${at}`),
        get(`/api/v1/nothing-${at}`, bearer(`${at}`.padStart(43, 'x'))),
        get(`//${at}`),
        get(`/oauth/authorize?client_id=app-${at}&response_type=r${at}`),
      ]);
    const redeem = (at: number) =>
      postForm(`${world.origin}/api/oauth/token`, { grant_type: `grant-${at}`, client_id: `app-${at}`, code: `${at}` });
    const seriesOf = async () => {
      const lines = (await scrape()).split('\n').filter((line) => line.startsWith('coursegate_'));
      return new Set(lines.map((line) => line.slice(0, line.lastIndexOf(' '))));
    };
    for (const method of ['GET', 'PROPFIND', 'PURGE', 'MKCOL']) await get('/a', {}, method);
    await ask(0);
    await redeem(0);
    // The first sweep of the store adds series, too.
    await vi.waitFor(async () => expect(await scrape()).toContain('operation="compact"'), { timeout: 30_000 });
    const before = await seriesOf();
    for (let at = 1; at < 2_500; at += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, more) => ask(at + more)));
    }
    for (let at = 1; at < 500; at += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, more) => redeem(at + more)));
    }
    for (const method of ['REPORT', 'SEARCH', 'LOCK']) await get('/a', {}, method);
    expect([...(await seriesOf())].filter((series) => !before.has(series))).toEqual([]);
    const text = await scrape();
    expect(text).toContain('method="other"');
    expect(text).not.toContain('random');
    expect(text).not.toContain('PROPFIND');
    expect(text).not.toMatch(/app-\d|grant-\d/);
  });

  const inMemory = () =>
    createMetrics({
      inFlight: new RequestsInFlight(),
      droppedLines: () => 0,
      upstreams: () => [],
      unused: () => ({ connections: 0, apps: 0 }),
      reloads: () => ({ successful: true, takenAt: 0, fingerprint: '' }),
      events: () => undefined,
      clock: Date.now,
    });

  it('have the turns that blocked the event loop, in seconds, failures of the store, and unknown hosts', async () => {
    const metrics = inMemory();
    for (const milliseconds of [60, 300]) metrics.loopBlocked(milliseconds);
    metrics.storeFailed();
    for (const _ of [1, 2]) metrics.misdirected();
    const text = await metrics.own();
    for (const line of [
      ...['blocked_seconds_bucket{le="0.1"} 1', 'blocked_seconds_bucket{le="0.5"} 2', 'blocked_seconds_sum 0.36'].map(
        (rest) => `event_loop_${rest}`,
      ),
      ...['store_failures_total 1', 'misdirected_requests_total 2'],
    ])
      expect(text).toContain(`coursegate_${line}\n`);
  });

  it('keep a bounded number of OAuth error labels, whatever the errors are called', () => {
    const metrics = inMemory();
    const provenance = {
      clientAddress: '',
      hops: '',
      trusted: false,
      requestId: '',
      traceId: () => '',
      traceFields: () => [],
    };
    for (let at = 0; at < 10_000; at += 1) {
      for (const error of [
        `made_up_${at.toString(26).replaceAll(/\d/g, 'x')}`,
        `Made Up ${at}`,
        'a'.repeat(at % 500),
      ]) {
        const record = new RequestRecord(provenance, 'GET', '/');
        record.refusedWith(error);
        metrics.ended(record, 400, 1);
      }
    }
    return metrics.exposition().then(({ text }) => {
      const errors = text.split('\n').filter((line) => line.startsWith('coursegate_oauth_errors_total{'));
      expect(errors.length).toBeLessThanOrEqual(65);
      expect(errors.join('\n')).toContain('error="other"');
      expect(errors.join('\n')).not.toMatch(/Made|a{41}/);
    });
  });

  it('count sign-ins, consents, tokens and every audit event', async () => {
    const own = await startWorld({ profile: 'A' });
    try {
      const app = await registerApp(own.origin);
      await connectApp(app);
      const { browser, page } = await reachConsent((await authorizationRequest(app)).url);
      await browser.submit(page, { decision: 'deny' }, (to) => !to.startsWith(app.redirectUri));
      const { form } = await approved(app);
      const { body } = await token(app, form);
      await token(app, refreshForm(app, body.refresh_token));
      await statusOf(own.origin, body.access_token);
      await statusOf(own.origin, body.access_token);
      await statusOf(own.origin, 'n'.repeat(43));
      await token(app, { ...form, code: 'none' });
      await fetch(`${own.origin}/oauth/authorize?client_id=nobody`);
      const text = await (await fetch(`${own.admin}/metrics`)).text();
      for (const line of [
        'coursegate_sign_ins_total{connector="session",outcome="success"} 3',
        'coursegate_consents_total{decision="given"} 2',
        'coursegate_consents_total{decision="denied"} 1',
        'coursegate_tokens_issued_total{grant="authorization_code"} 2',
        'coursegate_tokens_issued_total{grant="refresh_token"} 1',
        'coursegate_audit_events_total{action="client_registered",outcome="success"} 1',
        'coursegate_audit_events_total{action="access_denied",outcome="failure"} 1',
        'coursegate_audit_events_total{action="refresh_token_reuse",outcome="failure"} 0',
        'coursegate_sign_ins_total{connector="session",outcome="login_unavailable"} 0',
        'coursegate_rate_limited_total{limit="member"} 0',
        'coursegate_token_checks_total{result="active",cache="miss"} 1',
        'coursegate_token_checks_total{result="active",cache="hit"} 1',
        'coursegate_token_checks_total{result="inactive",cache="miss"} 1',
        'coursegate_token_checks_total{result="failed",cache="miss"} 0',
        'coursegate_oauth_errors_total{endpoint="/api/oauth/token",error="invalid_grant"} 1',
        'coursegate_oauth_errors_total{endpoint="/oauth/authorize",error="invalid_client"} 1',
        'coursegate_cache_entries{cache="tokens"} 1',
        'coursegate_cache_capacity{cache="tokens"} 10000',
        'coursegate_cache_capacity{cache="client_documents"} 500',
        'coursegate_cache_capacity{cache="rate_limit_windows"} 100000',
        'coursegate_ready 1',
        `coursegate_build_info{version="0.1.0",node="${process.versions.node}"} 1`,
      ])
        expect(text.split('\n')).toContain(line);
      expect(text).toMatch(/^coursegate_signing_key_age_seconds \d{1,4}$/m);
      expect(Number(/^coursegate_store_bytes (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(4096);
      expect(text).toMatch(/^coursegate_store_operation_seconds_count\{operation="get",result="done"\} [1-9]/m);
      expect(text).toMatch(/^coursegate_store_operation_seconds_count\{operation="commit",result="done"\} [1-9]/m);
      expect(text).toMatch(/verdict="admitted"/);
    } finally {
      await own.close();
    }
  });

  it('count rate-limited requests by limit', async () => {
    const limited = await startWorld({
      profile: 'B',
      overrides: {
        upstreams: { school: { url: upstream.url } },
        limits: { address: { requests: 2, per: '1m' } },
        clients: { registration: { perAddressPerMinute: 1 } },
      },
    });
    try {
      for (let times = 0; times < 5; times += 1) await rawRequest(limited.origin, { path: '/api/v1/whoami' });
      const text = await (await fetch(`${limited.admin}/metrics`)).text();
      expect(text.split('\n')).toContain('coursegate_rate_limited_total{limit="address"} 3');
    } finally {
      await limited.close();
    }
  });

  it('count refusals by reason, and failures by code', async () => {
    const refused = (reason: string) => value(`coursegate_refusals_total{reason="${reason}"}`);
    const noToken = await refused('no_token');
    const invalid = await refused('invalid_token');
    const notFound = await value('coursegate_failures_total{code="not_found"}');
    await get('/api/oauth/userinfo');
    await get('/api/oauth/userinfo', bearer('y'.repeat(43)));
    await get('/api/v1/WHOAMI');
    await expect.poll(() => refused('no_token')).toBe(noToken + 1);
    await expect.poll(() => refused('invalid_token')).toBe(invalid + 1);
    await expect.poll(() => value('coursegate_failures_total{code="not_found"}')).toBe(notFound + 1);
  });

  it('report the requests in flight, the open streams and the breaker of each upstream', async () => {
    const of = (what: string) => value(`coursegate_upstream_${what}{upstream="school"}`);
    expect([await of('requests_in_flight'), await of('open_streams'), await of('breaker_open')]).toEqual([0, 0, 0]);
    const held: (() => void)[] = [];
    upstream.script((request, response) => {
      if (request.url === '/api/v1/ticks')
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n');
      held.push(() => void response.end());
    });
    const leave = new AbortController();
    const stream = await fetch(`${world.origin}/api/v1/ticks`, { signal: leave.signal });
    const plain = get('/api/v1/courses/1');
    await expect.poll(() => of('requests_in_flight')).toBe(1);
    expect(await of('open_streams')).toBe(1);
    for (const release of held) release();
    await Promise.all([plain, stream.text()]);
    await expect.poll(() => of('requests_in_flight')).toBe(0);
    await expect.poll(() => of('open_streams')).toBe(0);

    upstream.script((_request, response) => void response.destroy());
    for (let times = 0; times < 5; times += 1)
      expect((await get('/api/v1/courses/1', {}, 'DELETE')).status).toBeGreaterThan(399);
    for (let times = 0; times < 5; times += 1) await get('/api/v1/courses/1');
    expect(await of('breaker_open')).toBe(1);
    upstream.script((_request, response) => void response.end('{}'));
    await expect.poll(async () => (await get('/api/v1/courses/1')).status, { timeout: 10_000 }).toBe(200);
    expect(await of('breaker_open')).toBe(0);
  });

  it('count the gate’s own upstream calls', async () => {
    const calls = () => value('coursegate_upstream_response_seconds_count{upstream="school",route="own",status="401"}');
    const before = await calls();
    upstream.script((_request, response) => void response.writeHead(401).end());
    const app = await registerApp(world.origin);
    const browser = createBrowser();
    browser.cookies.set('school_session', { value: 'x', path: '/' });
    await browser.open((await authorizationRequest(app)).url).catch(() => undefined);
    upstream.script((_request, response) => void response.end('{}'));
    expect(await calls()).toBe(before + 1);
  });

  it('report open event streams and WebSockets, and requests in flight', async () => {
    const open = (kind: string) => value(`coursegate_open_streams{kind="${kind}"}`);
    upstream.script((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
    });
    const leave = new AbortController();
    const streams = await Promise.all(
      ['/api/v1/courses/stream', '/stream'].map((path) => fetch(`${world.origin}${path}`, { signal: leave.signal })),
    );
    expect(await open('sse')).toBe(2);
    expect(await value('coursegate_requests_in_flight')).toBe(2);
    leave.abort();
    await expect.poll(() => open('sse')).toBe(0);
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);

    upstream.onUpgrade((_request, socket) => {
      socket.on('end', () => socket.end()).resume();
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    });
    const { hostname, port } = new URL(world.origin);
    const socket = connect(Number(port), hostname);
    socket.write('GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await once(socket, 'data');
    expect(await open('websocket')).toBe(1);
    upstream.script((_request, response) => void response.end('{}'));
    socket.destroy();
    await expect.poll(() => open('websocket')).toBe(0);
    await expect.poll(() => value(`${REQUESTS}_count{route="site",method="GET",status="101",verdict="site"}`)).toBe(1);
  });
});

describe('the metrics of a gate with a failing store', () => {
  it('count the store’s failures', async () => {
    const world = await startWorld({ profile: 'A' });
    try {
      const failures = async () =>
        /^coursegate_store_failures_total (\d+)$/m.exec(await (await fetch(`${world.admin}/metrics`)).text())?.[1];
      expect(await failures()).toBe('0');
      for (const file of readdirSync(world.data)) {
        if (/\.db/.test(file)) writeFileSync(`${world.data}/${file}`, Buffer.alloc(65_536, 1));
      }
      await rawRequest(world.origin, { path: '/api/oauth/userinfo', headers: bearer('z'.repeat(43)) });
      await expect.poll(failures).not.toBe('0');
      const text = await (await fetch(`${world.admin}/metrics`)).text();
      expect(text).toMatch(/^coursegate_store_operation_seconds_count\{operation="\w+",result="failed"\} [1-9]/m);
      expect(text).toMatch(/^coursegate_token_checks_total\{result="failed",cache="miss"\} [1-9]/m);
      // The store is probed at most once a second.
      const metrics = async () => (await fetch(`${world.admin}/metrics`)).text();
      await expect.poll(metrics).toMatch(/^coursegate_ready 0$/m);
    } finally {
      await world.close().catch(() => undefined);
      rmSync(world.data, { recursive: true, force: true });
    }
  });
});
