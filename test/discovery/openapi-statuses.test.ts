import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerApp } from '../support/app.ts';
import { SCOPES } from '../support/catalogue.ts';
import { connect } from '../support/connection.ts';
import { rawRequest } from '../support/raw.ts';
import { startWorld, type World } from '../support/world.ts';
import { describedApi, type Operation, type RawSent } from './support/described-api.ts';

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** Targets and headers that are refused before the operation is known. */
const ADDRESSES: readonly (readonly [string, RawSent])[] = [
  ['C1 control characters', { part: '%C2%88%C2%9F' }],
  ['no UTF-8', { part: '%F2%95' }],
  ['NUL', { part: 'x%00' }],
  ['an encoded slash', { part: 'a%2Fb' }],
  ['a semicolon', { part: 'a;b' }],
  ['a backslash', { part: 'a\\b' }],
  ['dots', { part: '%2e%2e' }],
  ['double encoding', { part: '%252e' }],
  ['a space behind it', { part: 'x%20' }],
  ['another id', { part: 'y' }],
  ['an id of 5,000 characters', { part: 'y'.repeat(5_000) }],
  ['an id of 9,000 characters', { part: 'y'.repeat(9_000) }],
  ['a query of 9,000 characters', { query: `?${'q'.repeat(9_000)}` }],
  ['a query that is not encoded', { query: '?a=%zz&b' }],
  ['a fragment', { query: '#x' }],
  ['another host', { headers: { host: 'evil.test' } }],
  ['a host that is none', { headers: { host: 'a b' } }],
  ['fields of 17 kB', { headers: { x: 'x'.repeat(17_000) } }],
  ['a page elsewhere', { headers: { origin: 'https://evil.test' } }],
  ['an Accept that nothing meets', { headers: { accept: 'image/png' } }],
  ['an Accept of pages', { headers: { accept: 'text/html' } }],
  ['a condition', { headers: { 'if-none-match': '*' } }],
  ['an expectation', { headers: { expect: '202-unknown' } }],
];

/** Invalid bodies of both kinds, with their declared type. */
const BODIES: readonly (readonly [string, RawSent])[] = [
  ...[JSON_TYPE, FORM_TYPE, 'text/plain'].flatMap((type) =>
    ['{', '', '{}', 'a=b&a=b', 'client_id=nobody&token=x&grant_type=x', '\u0000'].map(
      (body) => [`${type}: ${JSON.stringify(body)}`, { headers: { 'content-type': type }, body }] as const,
    ),
  ),
  ['no type', { body: 'x' }],
  ['a coding', { headers: { 'content-type': JSON_TYPE, 'content-encoding': 'gzip' }, body: 'x' }],
  ['a coding of a form', { headers: { 'content-type': FORM_TYPE, 'content-encoding': 'gzip' }, body: 'x' }],
  ['1,100 KiB of JSON', { headers: { 'content-type': JSON_TYPE }, body: `{"a":"${'x'.repeat(1_100 * 1024)}"}` }],
  ['60 KiB of a form', { headers: { 'content-type': FORM_TYPE }, body: `a=${'x'.repeat(60 * 1024)}` }],
  ['60 KiB of a parameter', { headers: { 'content-type': FORM_TYPE }, body: `client_id=${'x'.repeat(50 * 1024)}` }],
  ['deep JSON', { headers: { 'content-type': JSON_TYPE }, body: `${'['.repeat(5_000)}${']'.repeat(5_000)}` }],
];

const PATIENCE_MS = 240_000;

/** The same check as in schemathesis: the document lists every status that an operation returns. */
describe.each([{ profile: 'A' }, { profile: 'B' }])('/openapi.json in Profile $profile', ({ profile }) => {
  let world: World;
  let api: ReturnType<typeof describedApi>;
  let callers: readonly (readonly [string, Readonly<Record<string, string>>])[];

  beforeAll(async () => {
    world = await startWorld({ profile });
    api = describedApi((await (await fetch(`${world.origin}/openapi.json`)).json()) as Record<string, unknown>);
    const app = await registerApp(world.origin);
    const bearer = (token: unknown) => ({ authorization: `Bearer ${String(token)}` });
    const all = await connect(app, { parameters: { scope: SCOPES.join(' ') } });
    const little = await connect(app, { parameters: { scope: 'profile' } });
    callers = [
      ['nobody', {}],
      ['a member', bearer(all.access_token)],
      ['a member with too little scope', bearer(little.access_token)],
      ['a bad token', bearer('x')],
      ['the token of a registration', bearer(app.client.registration_access_token)],
    ];
  });
  afterAll(() => world.close());

  const drive = async (
    chosen: (operation: Operation) => boolean,
    variants: readonly (readonly [string, RawSent])[],
  ) => {
    const flaws = new Set<string>();
    const statuses = new Set<number>();
    const one = async (operation: Operation, [what, sent]: readonly [string, RawSent]) => {
      for (const [who, credentials] of callers) {
        const called = await api.callRaw(operation, { ...sent, headers: { ...credentials, ...sent.headers } });
        statuses.add(called.status);
        for (const flaw of called.flaws) flaws.add(`${flaw.slice(0, 80)} (${what}, by ${who}) ${flaw.slice(80, 300)}`);
      }
    };
    for (const operation of api.operations.filter(chosen)) {
      await Promise.all(variants.map((variant) => one(operation, variant)));
    }
    expect([...flaws].slice(0, 20)).toEqual([]);
    return statuses;
  };
  /** Responses of the gate; the document does not define the school’s own responses. */
  const ours = ({ path }: Operation) => !path.startsWith('/api/v1/');

  it(
    'lists every status for a wrong path or header',
    async () => {
      const statuses = await drive(ours, ADDRESSES);
      expect([...statuses].toSorted()).toEqual(expect.arrayContaining([200, 400, 401, 414, 431]));
    },
    PATIENCE_MS,
  );

  it(
    'lists every status for a wrong body',
    async () => {
      const statuses = await drive((operation) => ours(operation) && operation.method !== 'GET', BODIES);
      expect([...statuses].toSorted()).toEqual(expect.arrayContaining([400, 401, 413, 415]));
    },
    PATIENCE_MS,
  );

  it(
    'lists every status of the routes to the school',
    async () => {
      const few = ({ path, id }: Operation) =>
        !ours({ path } as Operation) && /^(?:get|post|delete)ApiV1(?:Courses|Orders)/.test(id);
      const statuses = await drive(few, [...ADDRESSES, ...BODIES.slice(0, 9)]);
      expect([...statuses].toSorted()).toEqual(expect.arrayContaining([400, 401, 403, 414]));
    },
    PATIENCE_MS,
  );

  it('lists exactly the methods that a path accepts', async () => {
    const taken = new Map<string, Set<string>>();
    for (const { path, method } of api.operations.filter(ours)) {
      taken.set(path, (taken.get(path) ?? new Set()).add(method));
    }
    for (const [path, methods] of taken) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'TRACE']) {
        if (methods.has(method)) continue;
        const address = path.replaceAll(/\{[^}]*\}/g, 'x-1');
        const { status } = await fetchRaw(method, address);
        expect({ method, path, status }).toEqual({ method, path, status: 405 });
      }
    }
  });

  const fetchRaw = (method: string, path: string) =>
    rawRequest(world.origin, { method, path, headers: { host: new URL(world.origin).host } });
});
