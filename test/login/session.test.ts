import { describe, expect, it } from 'vitest';
import { sessionConnector } from '../../src/login/session.ts';
import type { CallUpstream } from '../../src/upstream/request.ts';

const ORIGIN = 'https://school.example';
const CONFIG = {
  kind: 'session' as const,
  upstream: 'school',
  whoami: {
    path: '/api/me',
    subject: '/user/id',
    email: '/user/email',
    name: '/user/name',
    authTime: '/at',
    acr: '/how',
  },
  loginUrl: '/login',
  returnParam: 'return_to',
  hintParam: undefined,
  acrValues: [],
  cookies: ['school_session', 'remember'],
};

/** The connector over a backend that answers this, and what it was asked. */
function connector(status: number, body: string) {
  const asked: Parameters<CallUpstream>[0][] = [];
  const call = (async (request: Parameters<CallUpstream>[0]) => {
    asked.push(request);
    return { status, headers: {}, body };
  }) as unknown as CallUpstream;
  const { identify } = sessionConnector(CONFIG, ORIGIN, call);
  return { asked, identify: () => identify({ cookie: 'school_session=mine' }) };
}
const who = (id: unknown, rest: object = {}) => connector(200, JSON.stringify({ user: { id, ...rest } })).identify();

describe('the member that whoami names', () => {
  it.each<[unknown, string]>([
    ['m-1', 'm-1'],
    [7, '7'],
    ['alice', 'alice'],
    ['Alice', 'Alice'],
    ['a b', 'a b'],
    ['x'.repeat(255), 'x'.repeat(255)],
    ['__proto__', '__proto__'],
    ['Zoë', 'Zoë'],
  ])('is %j, byte for byte', async (id, sub) => {
    expect(await who(id)).toMatchObject({ sub });
  });

  it.each<[unknown]>([
    [''],
    [' '],
    ['alice '],
    [' alice'],
    ['alice\0'],
    ['alice\n'],
    ['alice\u200b'],
    ['\u202ealice'],
    ['x'.repeat(256)],
    [null],
    [true],
    [1.5],
    [1e21],
    [['alice']],
    [{ id: 'alice' }],
    [{}],
  ])('is not %j: nobody is signed in by that', async (id) => {
    await expect(who(id)).rejects.toMatchObject({ code: 'login_unavailable' });
  });

  it.each(['', 'null', '[]', '"m-1"', '{', '<html>', '{"user":null}', '{"__proto__":{"user":{"id":"m-1"}}}'])(
    'is nowhere in %j',
    async (body) => {
      await expect(connector(200, body).identify()).rejects.toMatchObject({ code: 'login_unavailable' });
    },
  );

  it.each([301, 302, 303, 307, 401, 403])('is nobody when whoami answers %i', async (status) => {
    expect(await connector(status, '{"user":{"id":"m-1"}}').identify()).toBeUndefined();
  });

  it.each([201, 204, 400, 404, 429, 500, 503])('is not known when whoami answers %i', async (status) => {
    const { identify } = connector(status, '{"user":{"id":"m-1"}}');
    await expect(identify()).rejects.toMatchObject({ code: 'login_unavailable' });
  });

  it('has an email and a name where those are text of a sensible length', async () => {
    expect(await who('m-1', { email: 'a@b.example', name: 'A' })).toMatchObject({ email: 'a@b.example', name: 'A' });
    for (const odd of ['', 'x'.repeat(321), 7, null, ['a'], {}]) {
      expect(await who('m-1', { email: odd, name: odd })).toMatchObject({ email: undefined, name: undefined });
    }
  });

  it('is asked for with the listed cookies only, byte for byte, and with nothing else of the browser', async () => {
    const { asked } = connector(200, '{}');
    const call = (async (request: Parameters<CallUpstream>[0]) => {
      asked.push(request);
      return { status: 401, headers: {}, body: '' };
    }) as unknown as CallUpstream;
    const { identify } = sessionConnector(CONFIG, ORIGIN, call);
    const cookie = 'a=b; school_session=x=%22"; school_session2=no; Remember=no; remember=1; =no';
    await identify({ cookie, authorization: 'Bearer x', 'x-member-id': 'm-2' });
    expect(asked).toEqual([
      {
        upstream: 'school',
        method: 'GET',
        path: '/api/me',
        headers: { cookie: 'school_session=x=%22"; remember=1', accept: 'application/json' },
      },
    ]);
    await identify({ cookie: 'a=b' });
    expect(asked).toHaveLength(1);
  });
});
