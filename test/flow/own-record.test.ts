import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bearer, registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { rawRequest } from '../support/raw.ts';
import { answerOk, type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

/** SAM is m-1001. Whatever he sends, an upstream that trusts its paths and queries must not take him for m-1002. */
let world: World;
let upstream: RecordingUpstream;
let token: string;
beforeAll(async () => {
  upstream = await startRecordingUpstream();
  world = await startWorld({
    profile: 'A',
    overrides: {
      upstreams: { legacy: { url: upstream.url } },
      routes: [
        { match: 'GET /api/v1/members/{member.id}/orders', upstream: 'legacy' },
        {
          match: 'POST|PATCH|DELETE /api/v1/my/orders',
          upstream: 'legacy',
          body: { user_id: '{member.id}' },
          bodyLimit: '4KiB',
        },
        { match: 'POST|PUT /api/v1/my/search', upstream: 'legacy', query: { user_id: '{member.id}' } },
        { match: 'POST /api/v1/my/large', upstream: 'legacy', body: { id: '{member.id}', uid: '{member.id}' } },
        { match: 'GET /api/v1/my/rewritten/**', upstream: 'legacy', rewrite: '/members/{member.id}/orders/**' },
        { match: 'GET /api/v1/m/{member.id}/*', upstream: 'legacy', rewrite: '/x/*/{member.id}' },
        { match: 'GET /api/v1/my/orders', upstream: 'legacy', query: { user_id: '{member.id}' } },
      ],
    },
  });
  token = (await connect(await registerApp(world.origin))).access_token;
});
beforeEach(() => upstream.script(answerOk));
afterAll(async () => {
  await world.close();
  await upstream.close();
});

const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET', body?: string | Buffer) => {
  const asked = upstream.requests.length;
  const fields = { ...bearer(token), ...headers };
  const answer = await rawRequest(world.origin, {
    path,
    method,
    headers: fields,
    ...(body === undefined ? {} : { body }),
  });
  return { ...answer, seen: upstream.requests.slice(asked) };
};

describe('a path with {member.id}', () => {
  it('is forwarded for the member’s own ID', async () => {
    const { status, seen } = await ask('/api/v1/members/m-1001/orders?page=2');
    expect([status, seen.map(({ target }) => target)]).toEqual([200, ['/api/v1/members/m-1001/orders?page=2']]);
    expect((await ask('/api/v1/members/%6d-1001/orders')).seen.map(({ target }) => target)).toEqual([
      '/api/v1/members/m-1001/orders',
    ]);
  });

  it('is refused for any other ID, existing or not, without asking the upstream', async () => {
    const [there, nobody] = [await ask('/api/v1/members/m-1002/orders'), await ask('/api/v1/members/nobody/orders')];
    expect([there.status, nobody.status]).toEqual([403, 403]);
    const body = JSON.parse(there.text);
    expect(body).toMatchObject({ status: 403, code: 'forbidden' });
    expect(JSON.parse(nobody.text)).toEqual({ ...body, request_id: expect.any(String) });
    expect(there.text).not.toMatch(/m-100/);
    expect([there.seen, nobody.seen]).toEqual([[], []]);
    expect(there.headers['cache-control']).toBe('no-store');
    expect(there.headers['x-request-id']).toBe(body.request_id);
    expect(there.headers['access-control-allow-origin']).toBe('*');
  });

  it.each([
    ['/api/v1/members/M-1001/orders'],
    ['/api/v1/members/m-1002/ORDERS'],
    ['/API/v1/members/m-1002/orders'],
    ['/api/v1/members/m-1002/orders/'],
    ['/api/v1/members/m-1001/../m-1002/orders'],
    ['/api/v1/members/m-1001/%2e%2e/m-1002/orders'],
    ['/api/v1/members/m-1001%2f..%2fm-1002/orders'],
    ['/api/v1/members/m-1001%252f..%252fm-1002/orders'],
    ['/api/v1/members/%256d-1002/orders'],
    ['/api/v1/members/m%2D1002/orders'],
    ['/api/v1/members/m-1002;m-1001/orders'],
    ['/api/v1/members/m-1001;x=/m-1002/orders'],
    ['/api/v1/members/m-1001%00/orders'],
    ['/api/v1/members/m-1001%20/orders'],
    ['/api/v1/members/m-1001,m-1002/orders'],
    ['/api/v1/members/*/orders'],
    ['/api/v1/members/{member.id}/orders'],
    ['/api/v1/members//m-1002/orders'],
    ['/api/v1/members\\m-1002/orders'],
    ['/api/v1/members/ｍ-1002/orders'.replace('ｍ', '%EF%BD%8D')],
  ])('is not reached through %s', async (path) => {
    const { status, seen } = await ask(path);
    expect([400, 403, 404]).toContain(status);
    expect(seen).toEqual([]);
  });

  it.each([
    [{ 'x-member-id': 'm-1002' }],
    [{ X_Member_Id: 'm-1002' }],
    [{ 'x-original-url': '/api/v1/members/m-1002/orders' }],
    [{ 'x-rewrite-url': '/api/v1/members/m-1002/orders' }],
    [{ 'x-http-method-override': 'DELETE' }],
    [{ 'x-forwarded-uri': '/api/v1/members/m-1002/orders' }],
  ])('is not affected by the header fields %o', async (fields) => {
    expect((await ask('/api/v1/members/m-1002/orders', fields as Record<string, string>)).status).toBe(403);
    const { seen } = await ask('/api/v1/members/m-1001/orders', fields as Record<string, string>);
    expect(seen).toHaveLength(1);
    expect(seen[0]?.values('x-member-id')).toEqual(['m-1001']);
    expect(seen[0]?.rawHeaders.join('\n')).not.toMatch(/m-1002|DELETE/);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'])('refuses %s for every ID', async (method) => {
    for (const id of ['m-1001', 'm-1002']) {
      const { status, seen } = await ask(`/api/v1/members/${id}/orders`, {}, method);
      expect([status, seen]).toEqual([405, []]);
    }
    expect((await ask('/api/v1/members/m-1002/orders', {}, 'HEAD')).status).toBe(403);
  });

  it('needs a token', async () => {
    const asked = upstream.requests.length;
    expect((await rawRequest(world.origin, { path: '/api/v1/members/m-1001/orders' })).status).toBe(401);
    expect((await rawRequest(world.origin, { path: '/api/v1/my/orders?user_id=m-1002' })).status).toBe(401);
    expect(upstream.requests.length).toBe(asked);
  });
});

describe('a rewriting to {member.id}', () => {
  it('asks the upstream for the member’s own record', async () => {
    const { status, seen } = await ask('/api/v1/my/rewritten?page=2');
    expect([status, seen.map(({ target }) => target)]).toEqual([200, ['/members/m-1001/orders?page=2']]);
  });

  it.each([
    ['/api/v1/my/rewritten/m-1002', '/members/m-1001/orders/m-1002'],
    ['/api/v1/my/rewritten/{member.id}', '/members/m-1001/orders/%7Bmember.id%7D'],
    [
      '/api/v1/my/rewritten/?member.id=m-1002&user_id=m-1002',
      '/members/m-1001/orders/?member.id=m-1002&user_id=m-1002',
    ],
    ['/api/v1/m/m-1001/m-1002', '/x/m-1002/m-1001'],
    ['/api/v1/m/%6d-1001/m-1002', '/x/m-1002/m-1001'],
  ])('turns %s into %s', async (path, expected) => {
    expect((await ask(path)).seen.map(({ target }) => target)).toEqual([expected]);
  });

  it.each([
    '/api/v1/my/rewritten/../../m-1002/orders',
    '/api/v1/my/rewritten/%2e%2e/%2e%2e/m-1002/orders',
    '/api/v1/my/rewritten/..%2f..%2fm-1002',
    '/api/v1/my/rewritten/..;/m-1002',
    '/api/v1/my/Rewritten/m-1002',
    '/api/v1/m/m-1002/m-1001',
    '/api/v1/m/m-1002%2fm-1001/x',
  ])('is not reached through %s', async (path) => {
    const { status, seen } = await ask(path);
    expect([400, 403, 404]).toContain(status);
    expect(seen).toEqual([]);
  });

  it('rewrites a Location of the member’s own record, and leaves others unchanged', async () => {
    const located = async (location: string) => {
      upstream.script((_request, response) => void response.writeHead(303, { location }).end());
      return (await ask('/api/v1/my/rewritten/7')).headers.location;
    };
    expect(await located('/members/m-1001/orders/8?a=1')).toBe('/api/v1/my/rewritten/8?a=1');
    expect(await located(`${upstream.url}/members/m%2D1001/orders/8`)).toBe(`${world.origin}/api/v1/my/rewritten/8`);
    expect(await located('/members/m-1002/orders/8')).toBe('/members/m-1002/orders/8');
  });

  it('needs a token', async () => {
    const asked = upstream.requests.length;
    expect((await rawRequest(world.origin, { path: '/api/v1/my/rewritten' })).status).toBe(401);
    expect(upstream.requests.length).toBe(asked);
  });
});

describe('a query parameter from {member.id}', () => {
  it('is set, and leaves the other parameters as they were sent', async () => {
    expect((await ask('/api/v1/my/orders')).seen[0]?.target).toBe('/api/v1/my/orders?user_id=m-1001');
    const others = 'page=2&q=a+b%20c&flag&a%252Bb=%25&user=m-1002&id=7';
    expect((await ask(`/api/v1/my/orders?${others}`)).seen[0]?.target).toBe(
      `/api/v1/my/orders?user_id=m-1001&${others}`,
    );
  });

  it.each([
    'user_id=m-1002',
    'user_id=m-1001&user_id=m-1002',
    'user_id',
    'USER_ID=m-1002',
    'User_Id=m-1002',
    '%75ser_id=m-1002',
    '%2575ser_id=m-1002',
    '%252575ser_id=m-1002',
    '%25252575ser_id=m-1002',
    'user%5Fid=m-1002',
    'user_id[]=m-1002',
    'user_id%5B%5D=m-1002',
    'user_id[0]=m-1002',
    'user_id[$ne]=x',
    'user_id%00=m-1002',
    'user_id%20=m-1002',
    '+user_id=m-1002',
    'user.id=m-1002',
    'user+id=m-1002',
    'user[id=m-1002',
    'x=1;user_id=m-1002',
    'user%ff_id=m-1002',
    '%EF%BD%95ser_id=m-1002',
    'user_%C4%B1d=m-1002',
    'userId=m-1002',
    'user-id=m-1002',
    'user_id%22=m-1002',
  ])('?%s is removed', async (query) => {
    const { status, seen } = await ask(`/api/v1/my/orders?page=2&${query}&per_page=3`);
    expect(status).toBe(200);
    expect(seen[0]?.target).toBe('/api/v1/my/orders?user_id=m-1001&page=2&per_page=3');
  });
});

describe('a property of a JSON body from {member.id}', () => {
  const JSON_TYPE = { 'content-type': 'application/json' };
  const send = async (
    body: string | Buffer,
    headers: Record<string, string> = JSON_TYPE,
    path = '/api/v1/my/orders',
  ) => {
    const { status, seen, text, headers: fields } = await ask(path, headers, 'POST', body);
    return { status, text, id: fields['x-request-id'], body: seen[0]?.body.toString(), seen };
  };

  it('is set, and leaves the others byte for byte as they were sent', async () => {
    for (const [sent, received] of [
      ['{}', '{"user_id":"m-1001"}'],
      [' { } ', '{"user_id":"m-1001"}'],
      [
        '{"n": 12345678901234567890.10, "s":"a\\"}{,\\\\", "o": {"user_id":"x","a":[1,{"b":[]}]} , "é":null}',
        '{"user_id":"m-1001","n": 12345678901234567890.10,"s":"a\\"}{,\\\\","o": {"user_id":"x","a":[1,{"b":[]}]},"é":null}',
      ],
    ] as const) {
      const { status, body, seen } = await send(sent);
      expect([status, body]).toEqual([200, received]);
      expect(seen[0]?.values('content-length')).toEqual([String(Buffer.byteLength(received))]);
      expect(seen[0]?.values('content-type')).toEqual(['application/json']);
      expect(seen[0]?.values('transfer-encoding')).toEqual([]);
    }
  });

  it.each([
    '"user_id":"m-1002"',
    '"user_id":"m-1001","user_id":"m-1002"',
    '"user_id":{"$ne":null}',
    '"user_id":["m-1002"]',
    '"user_id":null',
    '"USER_ID":"m-1002"',
    '"userId":"m-1002"',
    '"user-id":"m-1002"',
    '"user.id":"m-1002"',
    '"user id":"m-1002"',
    '" user_id ":"m-1002"',
    '"user_id[]":"m-1002"',
    '"user[id]":"m-1002"',
    '"\\u0075ser_id":"m-1002"',
    '"user_id\\u0000x":"m-1002"',
    '"user\\u0000_id":"m-1002"',
    '"user_id\\ud800":"m-1002"',
    '"user_id\\"":"m-1002"',
    '"ｕser_id":"m-1002"',
    '"user_ıd":"m-1002"',
    '"__proto__":{"user_id":"m-1002"}',
  ])('%s is removed', async (members) => {
    const { status, body } = await send(`{"page":2,${members},"q":"m"}`);
    expect([status, body]).toEqual([200, '{"user_id":"m-1001","page":2,"q":"m"}']);
    expect((await send(`{${members}}`)).body).toBe('{"user_id":"m-1001"}');
  });

  it('is removed from the query too, and a query parameter from the body', async () => {
    const { seen } = await ask('/api/v1/my/orders?user_id=m-1002&a=1', JSON_TYPE, 'POST', '{"a":1}');
    expect([seen[0]?.target, seen[0]?.body.toString()]).toEqual([
      '/api/v1/my/orders?a=1',
      '{"user_id":"m-1001","a":1}',
    ]);
    const only = await ask('/api/v1/my/orders?user_id=m-1002', JSON_TYPE, 'POST', '{}');
    expect(only.seen[0]?.target).toBe('/api/v1/my/orders');
    const search = await ask('/api/v1/my/search?q=1', JSON_TYPE, 'POST', '{"User_ID":"m-1002","a":1}');
    expect(search.seen.map(({ target, body }) => [target, body.toString()])).toEqual([
      ['/api/v1/my/search?user_id=m-1001&q=1', '{"a":1}'],
    ]);
    const bodiless = await ask('/api/v1/my/search', {}, 'POST');
    expect(bodiless.seen.map(({ target }) => target)).toEqual(['/api/v1/my/search?user_id=m-1001']);
  });

  it.each([
    ['a form', 'application/x-www-form-urlencoded', 'user_id=m-1002', 415],
    ['a form that looks like JSON', 'application/x-www-form-urlencoded', '{"a":"&user_id=m-1002&"}', 415],
    ['parts', 'multipart/form-data; boundary=x', '--x', 415],
    ['text', 'text/plain', '{}', 415],
    ['JSON in another charset', 'application/json; charset=utf-7', '{}', 415],
    ['JSON in UTF-16', 'application/json; charset="utf-16le"', Buffer.from('{}', 'utf16le'), 415],
    ['two types in one', 'application/json, application/x-www-form-urlencoded', '{}', 415],
    ['no JSON', 'application/json', '{"a":1,}', 400],
    ['JSON with trailing text', 'application/json', '{}{"user_id":"m-1002"}', 400],
    ['a comment', 'application/json', '{"a":1/*,"user_id":"m-1002"*/}', 400],
    ['a list', 'application/json', '[{"user_id":"m-1002"}]', 400],
    ['a string', 'application/json', '"user_id"', 400],
    ['null', 'application/json', 'null', 400],
    ['UTF-16 without a byte order mark', 'application/json', Buffer.from('{}', 'utf16le'), 400],
    ['bytes that are not UTF-8', 'application/json', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400],
    ['white space', 'application/json', '  ', 400],
  ] as const)(
    'refuses %s, whether the member is named in the body or in the query',
    async (_what, type, body, status) => {
      for (const path of ['/api/v1/my/orders', '/api/v1/my/search']) {
        const answer = await send(body as string, { 'content-type': type }, path);
        expect([answer.status, answer.seen]).toEqual([status, []]);
        expect(JSON.parse(answer.text)).toMatchObject({ status, request_id: answer.id });
      }
    },
  );

  it('accepts all JSON media types, and a byte order mark', async () => {
    for (const type of [
      'application/json; charset=UTF-8',
      'Application/Merge-Patch+JSON',
      'application/json;charset="utf8"',
    ])
      expect((await send('{}', { 'content-type': type })).body).toBe('{"user_id":"m-1001"}');
    expect((await send('\ufeff{"a":1}')).body).toBe('{"user_id":"m-1001","a":1}');
  });

  it('refuses a compressed body, two types, no type, and no body at all', async () => {
    expect((await send('x', { ...JSON_TYPE, 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await send('{}', {})).status).toBe(415);
    expect((await send('{}', { 'content-type': ['application/json', 'text/plain'] as unknown as string })).status).toBe(
      415,
    );
    const asked = upstream.requests.length;
    expect((await ask('/api/v1/my/orders', JSON_TYPE, 'POST')).status).toBe(400);
    expect((await ask('/api/v1/my/orders', {}, 'DELETE')).status).toBe(400);
    expect(upstream.requests.length).toBe(asked);
  });

  it('drops header fields that describe the original bytes', async () => {
    const fields = {
      'content-digest': 'sha-256=:x:',
      'Repr-Digest': 'x',
      digest: 'x',
      'content-md5': 'x',
      'if-match': '"1"',
    };
    const { seen } = await send('{}', { ...JSON_TYPE, ...fields });
    expect(seen[0]?.rawHeaders.join('\n')).not.toMatch(/digest|md5/i);
    expect(seen[0]?.values('if-match')).toEqual(['"1"']);
  });

  it('is limited to the route’s body limit, and to 1 MiB', async () => {
    const sized = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`;
    expect((await send(sized(4096))).status).toBe(200);
    expect((await send(sized(4097))).status).toBe(413);
    expect((await send(sized(4097), { ...JSON_TYPE, 'transfer-encoding': 'chunked' })).status).toBe(413);
    const large = async (bytes: number) => (await send(sized(bytes), JSON_TYPE, '/api/v1/my/large')).status;
    expect([await large(1024 * 1024), await large(1024 * 1024 + 1)]).toEqual([200, 413]);
  });

  it('may be set under several names', async () => {
    const { body } = await send('{"id":1,"UID":2,"a":3}', JSON_TYPE, '/api/v1/my/large');
    expect(body).toBe('{"id":"m-1001","uid":"m-1001","a":3}');
  });

  it('accepts 900 levels of nesting, and refuses 2,000 with 400', async () => {
    const deep = `{"a":${'['.repeat(900)}${']'.repeat(900)},"user_id":1}`;
    expect((await send(deep)).body).toBe(`{"user_id":"m-1001",${deep.slice(1, -13)}}`);
    for (const levels of [2_000, 500_000]) {
      const deeper = `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
      expect((await send(deeper, JSON_TYPE, '/api/v1/my/large')).status).toBe(400);
    }
  });

  it('accepts a body in chunks, and after a 100 Continue', async () => {
    for (const field of [{ 'transfer-encoding': 'chunked' }, { expect: '100-continue' }]) {
      const { status, body } = await send('{"a":1,"user_id":2}', { ...JSON_TYPE, ...field });
      expect([status, body]).toEqual([200, '{"user_id":"m-1001","a":1}']);
    }
  });

  it('needs a token', async () => {
    const asked = upstream.requests.length;
    const answer = await rawRequest(world.origin, {
      path: '/api/v1/my/orders',
      method: 'POST',
      headers: JSON_TYPE,
      body: '{}',
    });
    expect([answer.status, upstream.requests.length]).toEqual([401, asked]);
  });
});
