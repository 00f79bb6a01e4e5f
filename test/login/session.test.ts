import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RecordingUpstream, startRawUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { type Connected, connectedTo, ORIGIN } from './support/backend.ts';

const UNAVAILABLE = { code: 'login_unavailable', status: 503 };

let backend: RecordingUpstream;
let gate: Connected;
beforeAll(async () => {
  backend = await startRecordingUpstream((_request, response) => {
    response.writeHead(200).end('{"id":"m-1"}');
  });
  gate = await connectedTo(backend.url);
});
afterAll(async () => {
  await gate.close();
  await backend.close();
});

describe('the request to whoami', () => {
  /** The Cookie header that the backend received, as bytes; undefined when it was not asked. */
  const told = async (cookie: string, cookies: readonly string[] = ['school_session', 'remember']) => {
    const before = backend.requests.length;
    await gate.connector({ cookies }).identify({ cookie }, { trusted: false });
    return backend.requests[before]?.values('cookie');
  };

  it('has the listed cookies, and nothing else of the browser', async () => {
    const headers = {
      authorization: 'Bearer x',
      'x-member-id': 'm-2',
      'x-forwarded-for': '10.0.0.1',
      referer: 'https://a',
    };
    const cookie = 'a=b; school_session=mine; school_session2=no; Remember=no; remember=1; =no; school_session';
    await gate.connector().identify({ ...headers, cookie, 'user-agent': 'Browser/1' }, { trusted: true });
    const { method, target, rawHeaders, values } = backend.last();
    expect({ method, target, cookie: values('cookie') }).toEqual({
      method: 'GET',
      target: '/api/me',
      cookie: ['school_session=mine; remember=1'],
    });
    expect(rawHeaders.join('\n')).not.toMatch(/Bearer|m-2|10\.0\.0\.1|https:\/\/a|Browser/);
  });

  it('is not sent when none of the cookies is present', async () => {
    for (const cookie of ['', 'a=b', 'school_session', 'SCHOOL_SESSION=x', '=school_session']) {
      expect(await told(cookie)).toBeUndefined();
    }
  });

  it.each<[string, string]>([
    ['school_session="a b"; remember="x\\"y"', 'school_session="a b"; remember="x\\"y"'],
    ['school_session=x=%22=; remember==', 'school_session=x=%22=; remember=='],
    ['school_session=\xc3\xa0; remember=\xa0', 'school_session=\xc3\xa0; remember=\xa0'],
    ['school_session=\x80\xff', 'school_session=\x80\xff'],
    ['school_session=', 'school_session='],
    ['school_session=1;remember=2;  school_session=3', 'school_session=1; remember=2; school_session=3'],
    [
      'school_session=b; x=y; school_session=a; school_session=b',
      'school_session=b; school_session=a; school_session=b',
    ],
  ])('has, of %j, byte for byte and in order, %j', async (cookie, expected) => {
    expect(await told(cookie)).toEqual([expected]);
  });

  it.each<[string, string, string | undefined]>([
    [
      'wordpress_logged_in_*',
      'wordpress_logged_in_0123=a; wordpress_test_cookie=b; wordpress_logged_in_=c',
      'wordpress_logged_in_0123=a; wordpress_logged_in_=c',
    ],
    ['wordpress_logged_in_*', 'xwordpress_logged_in_1=a; Wordpress_logged_in_1=b', undefined],
    [
      'remember_*_token',
      'remember_web_token=a; remember__token=b; remember_token=c; remember_web_tokens=d',
      'remember_web_token=a; remember__token=b',
    ],
    ['*_session', 'a_session=1; _session=2; a_sessions=3', 'a_session=1; _session=2'],
    ['a*b*c', 'abc=1; aXbXc=2; acb=3; aXbXbXc=4; ab=5', 'abc=1; aXbXc=2; aXbXbXc=4'],
    ['ab*ba', 'aba=1; abba=2', 'abba=2'],
    ['a.c', 'abc=1; a.c=2', 'a.c=2'],
  ])('has, by the pattern %s of %s, %s', async (pattern, cookie, expected) => {
    expect(await told(cookie, [pattern])).toEqual(expected === undefined ? undefined : [expected]);
  });

  it('never has a cookie of the gate, however it is listed', async () => {
    const ours = 'coursegate_session=1; coursegate_session.sig=2; coursegate_interaction=3';
    expect(await told(`${ours}; my_session=4`, ['*_session', 'c*', '*sig'])).toEqual(['my_session=4']);
    expect(await told(ours, ['*e*'])).toBeUndefined();
  });
});

describe('a failing whoami backend', () => {
  it.each<[string, string]>([
    ['does not speak HTTP', 'hello\r\n\r\n'],
    ['closes in the middle of its response', 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"id":"m-1"}'],
    ['closes in the middle of a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n99\r\n{"id":"m-1"}'],
    ['sends two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Length: 13\r\n\r\n{"id":"m-1"}'],
    ['closes at once', ''],
    [
      'compresses without being asked',
      'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\n{"id":"m-1"}',
    ],
  ])('that %s makes the sign-in unavailable', async (_name, bytes) => {
    const raw = await startRawUpstream((socket) => socket.end(bytes));
    const connected = await connectedTo(raw.url);
    try {
      await expect(connected.who()).rejects.toMatchObject(UNAVAILABLE);
    } finally {
      await connected.close();
      await raw.close();
    }
  });

  it.each<[string, string]>([
    ['sends nothing', ''],
    ['never ends its head', 'HTTP/1.1 200 OK\r\nX-Member: m-1\r\n'],
    ['never ends its body', 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"id":"m-1"}'],
  ])('that %s is given up after the timeout, and its connection is closed', async (_name, bytes) => {
    const raw = await startRawUpstream((socket) => socket.write(bytes));
    const connected = await connectedTo(raw.url, 300);
    try {
      await expect(connected.who()).rejects.toMatchObject(UNAVAILABLE);
    } finally {
      await connected.close();
      await raw.close();
    }
  });

  it('that sends more than 2 MiB is not read to the end', async () => {
    let sent = 0;
    backend.script((_request, response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && sent < 512 * 1024 * 1024) {
          sent += 65_536;
          if (!response.write(Buffer.alloc(65_536, 0x20))) return response.once('drain', more);
        }
        return response.end();
      };
      more();
    });
    await expect(gate.who()).rejects.toMatchObject(UNAVAILABLE);
    await backend.last().closed;
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('that redirects is not followed', async () => {
    const other = await startRecordingUpstream();
    try {
      for (const location of [`${other.url}/api/me`, '/api/me2', '//evil.example/', 'file:///etc/passwd']) {
        backend.script((_request, response) => void response.writeHead(302, { location }).end('{"id":"m-1"}'));
        const before = backend.requests.length;
        expect(await gate.who()).toBeUndefined();
        expect(backend.requests.length).toBe(before + 1);
      }
      expect(other.requests).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it('that is down makes the sign-in unavailable', async () => {
    const gone = await startRecordingUpstream();
    const connected = await connectedTo(gone.url);
    await gone.close();
    await expect(connected.who()).rejects.toMatchObject(UNAVAILABLE);
    await connected.close();
  });
});

describe('the result of whoami', () => {
  it('is not cached between requests', async () => {
    const { identify } = gate.connector();
    const headers = { cookie: 'school_session=mine' };
    for (const [status, id, sub] of [
      [200, 'm-1', 'm-1'],
      [200, 'm-2', 'm-2'],
      [401, '', undefined],
      [200, 'm-1', 'm-1'],
    ] as const) {
      backend.script((_request, response) => void response.writeHead(status).end(JSON.stringify({ id })));
      expect((await identify(headers, { trusted: false }))?.sub).toBe(sub);
    }
  });
});

describe('the sign-in URL', () => {
  const RETURN = new URL(`${ORIGIN}/oauth/interaction/abc-1/return`);
  const NO_WISH = { loginHint: undefined, uiLocales: undefined };
  const sent = (settings: Readonly<Record<string, unknown>>, wish: object = {}) =>
    gate.connector(settings).signInUrl(RETURN, { ...NO_WISH, ...wish }).href;

  it.each<[Record<string, unknown>, string]>([
    [{}, `${ORIGIN}/login?return_to=%2Foauth%2Finteraction%2Fabc-1%2Freturn`],
    [
      { loginUrl: 'https://sso.example/in?app=7' },
      'https://sso.example/in?app=7&return_to=https%3A%2F%2Fschool.example%2Foauth%2Finteraction%2Fabc-1%2Freturn',
    ],
    [
      { loginUrl: '/wp-login.php?redirect_to=/elsewhere', returnParam: 'redirect_to' },
      `${ORIGIN}/wp-login.php?redirect_to=%2Foauth%2Finteraction%2Fabc-1%2Freturn`,
    ],
  ])('with %j is %s', (settings, url) => {
    expect(sent(settings)).toBe(url);
  });

  it('has the login hint only if configured', () => {
    const wish = { loginHint: 'a&b=c@x', uiLocales: 'es-MX es' };
    const params = (settings: Record<string, unknown>) =>
      Object.fromEntries(new URL(sent(settings, wish)).searchParams);
    expect(params({ hintParam: 'user' })).toEqual({
      return_to: '/oauth/interaction/abc-1/return',
      user: 'a&b=c@x',
    });
    expect(Object.keys(params({}))).toEqual(['return_to']);
    expect(sent({ hintParam: 'user' })).not.toMatch(/user/);
  });
});
