import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { parse } from 'yaml';
import { authorizationRequest, bearer, registerApp } from '../support/app.ts';
import { approved, refreshForm, statusOf, token } from '../support/connection.ts';
import { reachConsent } from '../support/member.ts';
import { type Prometheus, prometheusPresent, startPrometheus } from '../support/prometheus.ts';
import { startWorld, type World } from '../support/world.ts';

const file = (name: string) => fileURLToPath(new URL(`../../helm/coursegate/files/${name}`, import.meta.url));

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard = JSON.parse(readFileSync(file('dashboard.json'), 'utf8')) as {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
};
const expressions = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
const rules = (
  parse(readFileSync(file('alerts.yaml'), 'utf8')) as { groups: { rules: { alert: string; expr: string }[] }[] }
).groups.flatMap((group) => group.rules);

/** The values that Grafana fills in. */
const filledIn = (expr: string) =>
  expr.replaceAll('$job', '.*').replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m');

/** The metrics that an expression names. */
const namesIn = (expr: string) =>
  [...expr.replaceAll(/"[^"]*"/g, '').matchAll(/\b(?:coursegate|nodejs|process)_\w+/g)].map(([name]) => name);

describe('the dashboard and the alerts', () => {
  const present = prometheusPresent();
  let world: World;
  let prometheus: Prometheus;
  beforeAll(async () => {
    world = await startWorld({
      profile: 'B',
      overrides: {
        upstreams: { progress: { url: 'http://127.0.0.1:1' } },
        routes: [
          { match: 'GET /api/v1/whoami', upstream: 'school' },
          { match: 'GET /api/v1/courses/**', upstream: 'school' },
          { match: 'GET /api/v1/ticks', upstream: 'school' },
          { match: 'GET /api/v1/orders/**', upstream: 'school', scopes: ['orders:read'] },
          { match: 'GET /api/v1/down', upstream: 'progress' },
        ],
        limits: {
          address: 'unlimited',
          client: 'unlimited',
          attempts: 'unlimited',
          member: { requests: 20, per: '1h' },
        },
      },
    });
    if (present) prometheus = await startPrometheus([new URL(world.admin).host], [file('alerts.yaml')]);
  });
  afterAll(async () => {
    if (present) await prometheus.close();
    await world.close();
  });

  it('use only metrics that exist', async () => {
    const text = await (await fetch(`${world.admin}/metrics`)).text();
    const there = new Set(
      [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    );
    const named = [...expressions.map(({ expr }) => expr), ...rules.map(({ expr }) => expr)].flatMap(namesIn);
    expect(new Set(named).size).toBeGreaterThan(25);
    expect([...new Set(named)].filter((name) => !there.has(name))).toEqual([]);
  });

  it('have panels with a description, filters by job and instance, and no overlap', () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { type, title, description, targets } of panels) {
      if (type === 'row') continue;
      expect(description, title).toEqual(expect.any(String));
      expect(targets?.length, title).toBeGreaterThan(0);
    }
    for (const { title, expr } of expressions) {
      expect(
        expr.match(/\{[^}]*\}/g)?.every((labels) => labels.includes('job=~"$job", instance=~"$instance"')),
        title,
      ).toBe(true);
      expect(expr.match(/\{/g)?.length, title).toBe(namesIn(expr).length);
    }
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'job', 'instance']);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });

  describe.skipIf(!present)('in a real Prometheus that scrapes a running gate', () => {
    it('show data in every panel', async () => {
      const socket = new WebSocket(`${world.origin.replace('http', 'ws')}/ws/echo`);
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
      const empty = async () => {
        const lacking: string[] = [];
        for (const { title, expr } of expressions)
          if ((await prometheus.query(filledIn(expr))) === 0) lacking.push(`${title}: ${expr}`);
        return lacking;
      };
      // A rising counter needs two scrapes, so the events are repeated until then.
      await expect.poll(async () => traffic(world).then(empty), { timeout: 150_000, interval: 1 }).toEqual([]);
      socket.close();
      // The series exist, and their values match the events.
      for (const rose of [
        'coursegate_http_request_duration_seconds_count{verdict="refused"}',
        'coursegate_sign_ins_total{outcome="success"}',
        'coursegate_consents_total{decision="denied"}',
        'coursegate_audit_events_total{action="refresh_token_reuse"}',
        'coursegate_failures_total{code="upstream_unreachable"}',
        'coursegate_rate_limited_total{limit="member"}',
        'coursegate_oauth_errors_total{error="invalid_grant"}',
      ])
        await expect
          .poll(async () => traffic(world).then(() => prometheus.query(`rate(${rose}[1m]) > 0`)), {
            timeout: 60_000,
            interval: 1,
          })
          .toBeGreaterThan(0);
    });

    it('are evaluated without errors, and the token reuse alert fires', async () => {
      interface Told {
        readonly data: {
          readonly groups: readonly { readonly rules: readonly { name: string; health: string; state: string }[] }[];
        };
      }
      const told = async () =>
        (await prometheus.get<Told>('/api/v1/rules')).data.groups.flatMap((group) => group.rules);
      await expect
        .poll(async () => (await told()).filter(({ health }) => health !== 'ok'), { timeout: 60_000 })
        .toEqual([]);
      expect((await told()).map(({ name }) => name)).toEqual(rules.map(({ alert }) => alert));
      await expect
        .poll(async () => (await told()).find(({ name }) => name === 'CoursegateTokenReuse')?.state, {
          timeout: 60_000,
        })
        .toBe('firing');
      expect((await told()).find(({ name }) => name === 'CoursegateNotReady')?.state).toBe('inactive');
    });
  });
});

/** Some events of every kind: members who approve and decline, apps that work and fail, an upstream that is down. */
async function traffic(world: World): Promise<void> {
  const app = await registerApp(world.origin);
  const { form } = await approved(app, { parameters: { scope: 'openid account:read courses:read' } });
  const { body: first } = await token(app, form);
  const { body: second } = await token(app, refreshForm(app, first.refresh_token));
  const { browser, page } = await reachConsent((await authorizationRequest(app)).url);
  await browser.submit(page, { decision: 'deny' }, (to) => !to.startsWith(app.redirectUri));
  const get = async (path: string, shown?: string) =>
    (await fetch(world.origin + path, shown === undefined ? {} : { headers: bearer(shown) })).arrayBuffer();
  for (let times = 0; times < 3; times += 1) await statusOf(world.origin, second.access_token);
  for (const path of ['/api/v1/courses/1', '/api/v1/courses/2', '/api/v1/down', '/', '/nowhere/at/all'])
    await get(path);
  for (const path of ['/api/v1/whoami', '/api/v1/orders']) await get(path, 'x'.repeat(43));
  await get('/api/v1/orders', second.access_token);
  await get('/api/oauth/userinfo');
  await token(app, refreshForm(app, 'none'));
  await token(app, refreshForm(app, (await token(app, refreshForm(app, second.refresh_token))).body.refresh_token));
  await token(app, refreshForm(app, first.refresh_token));
}
