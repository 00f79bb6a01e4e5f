import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the site received it. */
interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface FormBackend {
  readonly url: string;
  readonly seen: Seen[];
  /** The number of active sessions. */
  sessions(): number;
  /** Handlers that replace the site's own, by path. */
  instead: Map<string, (response: ServerResponse, seen: Seen) => void>;
  close(): Promise<void>;
}

/**
 * A site like a classic PHP one: it sets a session cookie on the first page, binds a hidden token to it, responds with
 * 200 to a wrong password and with a redirect to the right one, and then starts a new session.
 */
export async function startFormBackend(): Promise<FormBackend> {
  const seen: Seen[] = [];
  const instead: FormBackend['instead'] = new Map();
  const sessions = new Map<string, { token: string; member?: string }>();

  const page = (token: string, problem = '') => `<!DOCTYPE html><title>School</title>
<form action='/search' method=get><input name=q><input type=hidden name=scope value=all></form>
${problem}
<table><form method="post" action="/login.php?go=1&amp;lang=en"><tr><td>
<INPUT value="${token}&quot;&#x27;&eacute;" NAME=token TYPE=Hidden>
<input type="hidden" name="items[]" value="1"><input type="hidden" name="items[]" value="2">
<input type="hidden" name="off" value="x" disabled><input type=hidden value=nameless><input type=hidden name=go value=Hidden>
<input name="user"><input type="password" name="pass"><input type="submit" name="go" value="Go">
</td></tr></form></table>`;

  const answer = (one: Seen, response: ServerResponse) => {
    const url = new URL(one.url, 'http://school.test');
    const id = /PHPSESSID=(\w+)/.exec(one.headers.cookie ?? '')?.[1] ?? '';
    const session = sessions.get(id);
    const html = (body: string, headers: Record<string, string | string[]> = {}, status = 200) =>
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body);
    const begin = (member?: string) => {
      const fresh = randomBytes(8).toString('hex');
      sessions.set(fresh, { token: fresh, ...(member === undefined ? {} : { member }) });
      return { fresh, cookie: `PHPSESSID=${fresh}; path=/; HttpOnly` };
    };
    switch (`${one.method} ${url.pathname}`) {
      case 'GET /login':
        return html('', { location: '/login.php' }, 301);
      case 'GET /login.php': {
        const { fresh, cookie } = begin();
        return html(page(fresh), {
          'set-cookie': [cookie, 'seen=1; path=/', 'old=; expires=Thu, 01 Jan 1970 00:00:00 GMT'],
        });
      }
      case 'POST /login.php': {
        const form = new URLSearchParams(one.body);
        const whole = form.get('token') === `${session?.token}"'é` && form.getAll('items[]').join() === '1,2';
        const home = `${one.headers['x-forwarded-proto'] ?? 'http'}://${one.headers.host}`;
        if (!whole || one.headers.origin !== home || one.headers.referer !== `${home}/login.php`) {
          return html('<h1>Forbidden</h1>', {}, 403);
        }
        const [user, pass] = [form.get('user') ?? '', form.get('pass')];
        if (user === 'locked') return html('<p>Too many attempts.</p>');
        if (pass !== `${user}'s & "own" pässword`) return html(page(session?.token ?? '', '<p>Wrong!</p>'));
        sessions.delete(id);
        return html('', { location: '/home.php', 'set-cookie': begin(user).cookie }, 302);
      }
      case 'GET /me':
        if (session?.member === undefined) return html('no', {}, 401);
        return html(`{"id":"${session.member}-7","name":"${session.member}"}`);
      case 'GET /logout':
        sessions.delete(id);
        return html('', { location: '/' }, 302);
      case 'POST /token':
      case 'GET /token': {
        const given = one.method === 'GET' ? url.searchParams : new URLSearchParams(one.body);
        const json = (body: unknown) => response.writeHead(200).end(JSON.stringify(body));
        if (given.get('service') !== 'app') return json({ errorcode: 'servicenotavailable' });
        if (given.get('password') !== 'right') return json({ error: 'Invalid login', errorcode: 'invalidlogin' });
        return json({ token: 'tok+en/=', privatetoken: null });
      }
      case 'GET /info':
        if (url.searchParams.get('wstoken') === 'tok+en/=' || one.headers.authorization === 'Bearer tok+en/=')
          return html('{"userid":31,"fullname":"Mo Odle"}');
        return html('{"exception":"invalidtoken"}');
      default:
        return html('not found', {}, 404);
    }
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
      seen.push(one);
      const path = `${one.method} ${new URL(one.url, 'http://school.test').pathname}`;
      const other = instead.get(path);
      if (other === undefined) answer(one, response);
      else other(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    sessions: () => [...sessions.values()].filter(({ member }) => member !== undefined).length,
    instead,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
