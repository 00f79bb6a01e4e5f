import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type App, authorizationRequest, bearer, registerApp, revoke } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { COMMAND_SECRET, command } from '../support/commands.ts';
import { approved, connect, refreshForm, statusOf, token } from '../support/connection.ts';
import {
  EVENTS_SECRET,
  type EventReceiver,
  type ReceivedEvent,
  startEventReceiver,
} from '../support/event-receiver.ts';
import { OLU, reachConsent, SAM, signIn } from '../support/member.ts';
import { otherKey } from '../support/proof.ts';
import { startWorld, type World } from '../support/world.ts';

const SCHEMA = JSON.parse(readFileSync(new URL('../../schema/events.schema.json', import.meta.url), 'utf8'));
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const SCOPES = ['openid', 'profile', 'email', 'account:read', 'courses:read'];

describe('the backend', () => {
  let receiver: EventReceiver;
  let world: World;
  let app: App;
  /** Milliseconds by which the gate's clock is ahead of the test's. */
  let ahead = 0;
  beforeAll(async () => {
    receiver = await startEventReceiver();
    world = await startWorld({
      profile: 'A',
      clock: () => Date.now() + ahead,
      environment: { COMMAND_SECRET, EVENTS_SECRET },
      overrides: overrides(),
    });
  });
  const overrides = () => ({
    upstreams: { hooks: { url: receiver.upstream.url } },
    admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } },
    events: { upstream: 'hooks', path: '/coursegate/events', secret: { env: 'EVENTS_SECRET' } },
  });
  afterAll(async () => {
    await world.close();
    await receiver.close();
  });
  beforeEach(async () => {
    app = await registerApp(world.origin);
  });

  const ofApp = ({ data }: ReceivedEvent) => (data.client as { id?: string } | undefined)?.id === app.client.client_id;
  /** Resolves once there are `count` events of a type about this test's app. */
  const told = async (type: string, count = 1) =>
    (await receiver.has(type, (events) => events.filter(ofApp).length >= count)).filter(ofApp);
  const typesTold = () => receiver.receipts.filter(({ event }) => ofApp(event)).map(({ event }) => event.type);
  /** Without the app's own events, whose order among those of its connections is not promised. */
  const connectionTypesTold = () => typesTold().filter((type) => !type.startsWith('client.'));
  const lastOfApp = () => receiver.receipts.filter(({ event }) => ofApp(event)).at(-1);

  const client = () => ({ id: app.client.client_id, name: 'Test App', host: 'app.example', kind: 'registered' });
  const member = { id: 'm-1001' };
  const granted = (data: object) => ({
    grant_id: expect.stringMatching(/^[\w-]{20,}$/),
    member,
    client: client(),
    scopes: SCOPES,
    resources: [world.origin],
    ...data,
  });
  const ended = (by: string, reason: string, more: object = {}) => [
    { type: 'grant.revoked', timestamp: expect.stringMatching(TIME), data: granted({ by, reason, ...more }) },
  ];

  it('is told which member gave which app which access, and that the app has its tokens', async () => {
    const { access_token } = await connect(app);
    const [created] = await told('grant.created');
    expect(created).toEqual({
      type: 'grant.created',
      timestamp: expect.stringMatching(TIME),
      data: granted({ expires_at: expect.stringMatching(TIME) }),
    });
    const [given] = await told('consent.given');
    expect(given).toEqual({ type: 'consent.given', timestamp: expect.stringMatching(TIME), data: granted({}) });
    expect(given?.data.grant_id).toBe(created?.data.grant_id);
    expect(connectionTypesTold()).toEqual(['consent.given', 'grant.created']);
    await expect.poll(typesTold).toContain('client.registered');
    expect(Date.parse(String(created?.data.expires_at)) - Date.now()).toBeGreaterThan(360 * 86_400_000);

    const { method, target, rawHeaders } = receiver.upstream.last();
    expect([method, target]).toEqual(['POST', '/coursegate/events']);
    const { id = '', fields = {} } = lastOfApp() ?? {};
    expect(id).toMatch(/^msg_[\w-]{32}$/);
    expect(fields['content-type']).toBe('application/json');
    expect(fields['webhook-timestamp']).toMatch(/^\d{10}$/);
    expect(fields['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
    // Events are about a member but must not carry the member's identity or token.
    expect(rawHeaders.join(' ')).not.toMatch(/x-member|x-client-id|x-coursegate-assertion|authorization|cookie/i);
    for (const { body } of receiver.receipts) expect(body).not.toContain(access_token);
  });

  it('is told only the scopes that the member ticked', async () => {
    await connect(app, { ticked: ['courses:read'] });
    const [created] = await told('grant.created');
    expect(created?.data.scopes).toEqual(['openid', 'courses:read']);
  });

  it('is told once that a member denied access, and to which scopes', async () => {
    const { url } = await authorizationRequest(app, { scope: 'openid courses:read' });
    const { browser, page } = await reachConsent(url);
    for (let clicks = 0; clicks < 2; clicks += 1) await browser.submit(page, { decision: 'deny' }, () => false);
    await connect(app, { member: OLU });
    await told('grant.created');
    await told('consent.denied');
    expect(receiver.of('consent.denied').filter(ofApp)).toEqual([
      {
        type: 'consent.denied',
        timestamp: expect.stringMatching(TIME),
        data: { client: client(), member, scopes: ['openid', 'courses:read'], resources: [world.origin] },
      },
    ]);
  });

  it('is told of an approval, but of no grant, when the code was never exchanged', async () => {
    await approved(app);
    await told('consent.given');
    await connect(app, { member: OLU });
    await told('grant.created');
    expect((await told('grant.created')).map(({ data }) => data.member)).toEqual([{ id: 'm-1002' }]);
  });

  it('is told when an app revokes its token', async () => {
    const { access_token } = await connect(app);
    await revoke(app, access_token);
    expect(await told('grant.revoked')).toEqual(ended('app', 'token_revoked'));
    // Already ended, so no further event.
    await revoke(app, access_token);
    await connect(app);
    await told('grant.created', 2);
    const types = ['consent.given', 'grant.created'];
    expect(connectionTypesTold()).toEqual([...types, 'grant.revoked', ...types]);
  });

  it('is told when a member disconnects an app', async () => {
    await connect(app);
    const browser = createBrowser();
    await signIn(browser, world.origin, SAM);
    const which = new URLSearchParams({ app: app.client.client_id });
    const page = await browser.open(`${world.origin}/oauth/apps/disconnect?${which}`);
    await browser.submit(page, {});
    expect(await told('grant.revoked')).toEqual(ended('member', 'disconnected'));
  });

  it.each([
    ['members', 'revoke', 'member_revoked'],
    ['members', 'suspend', 'member_suspended'],
    ['clients', 'revoke', 'client_revoked'],
  ])('is told of the result of its own command %s %s, with the note that it sent', async (what, verb, reason) => {
    await connect(app);
    const id = what === 'members' ? 'm-1001' : app.client.client_id;
    const body = '{"by":"operator","reason":"chargeback"}';
    expect((await command(world.admin, `/${what}/${id}/${verb}`, { body })).status).toBe(200);
    expect(await told('grant.revoked')).toEqual(ended('operator', reason, { note: 'chargeback' }));
    if (verb === 'suspend') await command(world.admin, '/members/m-1001/resume');
  });

  it('is told once of the reuse of a refresh token, and once of the reuse of a code', async () => {
    const { refresh_token } = await connect(app);
    const next = await token(app, refreshForm(app, String(refresh_token)));
    await token(app, refreshForm(app, String(next.body.refresh_token)));
    for (let again = 0; again < 2; again += 1) await token(app, refreshForm(app, String(refresh_token)));
    expect(await told('grant.revoked')).toEqual(ended('gate', 'refresh_token_reuse'));

    app = await registerApp(world.origin);
    const { form } = await approved(app);
    await token(app, form);
    for (let again = 0; again < 2; again += 1)
      expect((await token(app, form, await otherKey(app))).body.error).toBe('invalid_grant');
    expect(await told('grant.revoked')).toEqual(ended('gate', 'code_reuse'));
  });

  it('is told when apps register, change or are deleted, and of the grants that end with them', async () => {
    const callback = 'http://127.0.0.1/callback';
    app = await registerApp(world.origin, { redirectUri: callback, metadata: { client_name: 'Short Lived' } });
    const short = { id: app.client.client_id, name: 'Short Lived', host: 'localhost', kind: 'registered' };
    expect((await told('client.registered')).map(({ data }) => data)).toEqual([{ client: short }]);

    const manage = (method: string, accessToken: unknown, body?: object) =>
      fetch(String(app.client.registration_client_uri), {
        method,
        headers: { ...bearer(String(accessToken)), 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const changed = { client_id: app.client.client_id, client_name: 'Renamed', redirect_uris: [callback] };
    const updated = await manage('PUT', app.client.registration_access_token, changed);
    const { registration_access_token } = (await updated.json()) as Record<string, unknown>;
    const renamed = { ...short, name: 'Renamed' };
    expect((await told('client.updated')).map(({ data }) => data)).toEqual([{ client: renamed }]);

    await connect(app);
    expect((await manage('DELETE', registration_access_token)).status).toBe(204);
    expect((await told('client.deleted')).map(({ data }) => data)).toEqual([{ client: renamed }]);
    const [revoked] = await told('grant.revoked');
    expect(revoked?.data).toMatchObject({ by: 'app', reason: 'client_deleted', client: renamed });
    const types = typesTold().filter((type) => type.startsWith('client.'));
    expect(types).toEqual(['client.registered', 'client.updated', 'client.deleted']);
  });

  it('receives no token in any event, and a unique id with each', async () => {
    const { access_token, refresh_token } = await connect(app);
    expect(await statusOf(world.origin, access_token)).toBe(200);
    await told('grant.created');
    const all = receiver.receipts.map(({ body }) => body).join('\n');
    expect(all).not.toContain(access_token);
    expect(all).not.toContain(String(refresh_token));
    expect(all).not.toContain('student@example.com');
    const ids = receiver.receipts.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is told once a minute of refused requests, but not of those without a token', async () => {
    const { access_token } = await connect(app, { ticked: ['courses:read'] });
    const ask = (token?: string) =>
      fetch(`${world.origin}/account/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(token === undefined ? {} : bearer(token)) },
        body: '{"query":"{ viewer { id } }"}',
      });
    for (let times = 0; times < 3; times += 1) expect((await ask(access_token)).status).toBe(403);
    for (let times = 0; times < 2; times += 1) expect((await ask('unknown')).status).toBe(401);
    expect((await ask()).status).toBe(401);
    ahead += 60_000;
    const [lacking] = await told('access.refused');
    expect(lacking?.data).toEqual({
      reason: 'insufficient_scope',
      count: 3,
      first_at: expect.stringMatching(TIME),
      last_at: expect.stringMatching(TIME),
      client: client(),
      member,
      grant_id: (await told('grant.created'))[0]?.data.grant_id,
    });
    const others = (await receiver.has('access.refused', (events) => events.length > 1)).filter((one) => !ofApp(one));
    expect(others.map(({ data }) => data)).toEqual([
      {
        reason: 'invalid_token',
        count: 2,
        first_at: expect.stringMatching(TIME),
        last_at: expect.stringMatching(TIME),
      },
    ]);
  });

  it('receives the limit that the apps of a member exceeded', async () => {
    const { access_token } = await connect(app);
    await world.reload({ ...overrides(), limits: { member: { requests: 1, per: '1h' } } });
    try {
      expect(await statusOf(world.origin, access_token)).toBe(200);
      expect(await statusOf(world.origin, access_token)).toBe(429);
      ahead += 60_000;
      const limited = ({ data }: ReceivedEvent) => data.reason === 'too_many_requests';
      const [event] = (await receiver.has('access.refused', (events) => events.some(limited))).filter(limited);
      expect(event?.data).toMatchObject({ count: 1, member });
    } finally {
      await world.reload(overrides());
    }
  });

  it('receives events that match the schema, of every type', async () => {
    const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false });
    formats.default(ajv);
    const valid = ajv.compile(SCHEMA);
    const types = new Set(receiver.receipts.map(({ event }) => event.type));
    expect([...types].toSorted()).toEqual([
      'access.refused',
      'client.deleted',
      'client.registered',
      'client.updated',
      'consent.denied',
      'consent.given',
      'grant.created',
      'grant.revoked',
    ]);
    for (const { event } of receiver.receipts)
      expect([valid(event), valid.errors], JSON.stringify(event)).toEqual([true, null]);
    const [created] = receiver.of('grant.created');
    for (const data of [{}, { ...created?.data, token: 'x' }, { ...created?.data, member: 'm-1001' }])
      expect(valid({ ...created, data })).toBe(false);
    expect(valid({ ...created, type: 'grant.renewed' })).toBe(false);
  });

  it('lets the operator see pending events on the admin listener and in the metrics, and retry them', async () => {
    receiver.answers((_request, response) => void response.writeHead(500).end());
    await connect(app);
    await told('consent.given');
    const state = await vi.waitFor(async () => {
      const answer = await fetch(`${world.admin}/events`);
      const found = (await answer.json()) as { pending: { grant: number }; events: { attempts: number }[] };
      if (!found.events.some(({ attempts }) => attempts > 0)) throw new Error(JSON.stringify(found));
      return found;
    }, 30_000);
    expect(state).toMatchObject({ upstream: 'hooks', path: '/coursegate/events' });
    expect(JSON.stringify(state)).not.toContain('m-1001');
    const metric = async (line: RegExp) => line.test(await (await fetch(`${world.admin}/metrics`)).text());
    expect(await metric(/^coursegate_events_stopped 0$/m)).toBe(true);
    expect(await metric(/^coursegate_events_failed_total\{reason="500"\} [1-9]/m)).toBe(true);
    expect(await metric(/^coursegate_events_delivered_total\{type="grant.created"\} [1-9]/m)).toBe(true);
    await vi.waitFor(async () => {
      if (!(await metric(/^coursegate_events_pending\{class="grant"\} [1-9]/m))) throw new Error('nothing waits');
    }, 30_000);
    receiver.answers(undefined);
    expect((await fetch(`${world.admin}/events/retry`, { method: 'POST' })).status).toBe(401);
    const retried = await command(world.admin, '/events/retry');
    expect(retried).toMatchObject({ status: 200, body: { pending: expect.any(Number) } });
    await told('grant.created');
    expect((await fetch(`${world.admin}/events/retry`)).status).toBe(405);
    expect((await fetch(`${world.admin}/events`, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
  });
});

describe('a gate without `events`', () => {
  it('has no endpoint for events', async () => {
    const world = await startWorld({
      profile: 'B',
      environment: { COMMAND_SECRET },
      overrides: { admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } } },
    });
    try {
      await connect(await registerApp(world.origin));
      expect((await fetch(`${world.admin}/events`)).status).toBe(404);
      expect((await command(world.admin, '/events/retry')).status).toBe(404);
    } finally {
      await world.close();
    }
  });
});
