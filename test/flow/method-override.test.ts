import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { rawRequest } from '../support/raw.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

/**
 * An override passes only if the token would also be allowed on the route of that method, and that route does the same.
 */
let world: World;
let upstream: RecordingUpstream;
const tokens: Record<'reader' | 'writer', string> = { reader: '', writer: '' };

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  const legacy = { upstream: 'legacy', scopes: ['courses:read'] };
  world = await startWorld({
    profile: 'A',
    overrides: {
      upstreams: { legacy: { url: upstream.url } },
      routes: [
        { ...legacy, match: 'POST /one' },
        { ...legacy, match: 'POST|DELETE /several' },
        { ...legacy, match: 'POST /scoped' },
        { ...legacy, match: 'DELETE /scoped', scopes: ['courses:write'] },
        { ...legacy, match: 'POST /own' },
        { ...legacy, match: 'DELETE /own', query: { user_id: '{member.id}' } },
        { ...legacy, match: 'POST /limited' },
        { ...legacy, match: 'DELETE /limited', bodyLimit: '1KiB' },
        { ...legacy, match: 'POST /other/*' },
        { ...legacy, match: 'DELETE /other/{member.id}' },
        { ...legacy, match: 'GET /reads' },
        { ...legacy, match: 'POST /anybody', anonymous: 'serve' },
        { ...legacy, match: 'DELETE /anybody', anonymous: 'refuse' },
      ],
    },
  });
  const app = await registerApp(world.origin);
  const parameters = (scope: string) => ({ parameters: { scope } });
  tokens.reader = (await connect(app, parameters('courses:read'))).access_token;
  tokens.writer = (await connect(app, parameters('courses:read courses:write'))).access_token;
});
afterAll(async () => {
  await world.close();
  await upstream.close();
});

const ask = async (token: string | undefined, path: string, body?: string, method = 'POST') => {
  const before = upstream.requests.length;
  const headers = {
    ...(token === undefined ? {} : bearer(token)),
    ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
  };
  const { status, text } = await rawRequest(world.origin, { path, method, headers, ...(body && { body }) });
  return { status, text, seen: upstream.requests.slice(before).map((request) => [request.method, request.target]) };
};

describe.each(['reader', 'writer'] as const)('with the token of a %s', (who) => {
  it.each([
    ['/one', []],
    ['/several', ['reader', 'writer']],
    ['/scoped', ['writer']],
    ['/own', []],
    ['/limited', []],
    ['/other/m-1001', []],
    ['/other/m-1002', []],
  ])('an override to DELETE at %s is forwarded if the token is in %j', async (path, allowed) => {
    const passes = (allowed as string[]).includes(who);
    const inQuery = await ask(tokens[who], `${path}?_method=DELETE`);
    const inBody = await ask(tokens[who], path, 'a=1&_method=delete');
    expect([inQuery.status, inBody.status]).toEqual(passes ? [200, 200] : [400, 400]);
    // Forwarded unchanged: the backend decides what to do with it.
    expect(inQuery.seen).toEqual(passes ? [['POST', `${path}?_method=DELETE`]] : []);
    expect(inBody.seen).toEqual(passes ? [['POST', path]] : []);
    for (const method of ['PUT', 'TRACE', '%00', ''])
      expect((await ask(tokens[who], `${path}?_method=${method}`)).status).toBe(400);
  });
});

it('explains a refused override to the app’s developer', async () => {
  const { status, text } = await ask(tokens.reader, '/one?_method=DELETE');
  expect(status).toBe(400);
  expect(JSON.parse(text)).toMatchObject({
    status: 400,
    code: 'method_override',
    title:
      'A parameter in the query of this request (_method or the like) asks for the method DELETE, which is not allowed here. Send the request with the method that you mean.',
  });
});

it('refuses an override on GET as well, since WordPress would apply it', async () => {
  expect(await ask(tokens.reader, '/reads?_method=DELETE', undefined, 'GET')).toMatchObject({ status: 400, seen: [] });
  expect((await ask(tokens.reader, '/reads?_method=HEAD', undefined, 'GET')).status).toBe(200);
});

it('refuses an override of an anonymous caller where the other method needs a token', async () => {
  expect(await ask(undefined, '/anybody?_method=DELETE')).toMatchObject({ status: 400, seen: [] });
  expect((await ask(undefined, '/anybody')).status).toBe(200);
});

it('does not check overrides on pages of the site', async () => {
  expect((await ask(undefined, '/login?_method=DELETE')).status).not.toBe(400);
});
