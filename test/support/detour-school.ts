import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type RecordingUpstream, startRecordingUpstream } from './recording-upstream.ts';

/**
 * A course site whose sign-in has detours: a registration page with a thank-you page, and wrong passwords. Like many
 * sites, it passes the return address along in its own parameter (`next`) and follows it only if it is a local path.
 */
export async function startDetourSchool(): Promise<RecordingUpstream> {
  const accounts = new Map<string, string>();
  const sessions = new Map<string, string>();

  const page = (response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}) => {
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers });
    response.end(`<!doctype html><html lang="en"><title>School</title>${body}`);
  };
  const form = (action: string, next: string, button: string) =>
    `<form method="post" action="${action}"><input type="hidden" name="next" value="${escaped(next)}">
<label>Name <input name="name"></label> <label>Password <input name="password" type="password"></label>
<button>${button}</button></form>`;
  const login = (response: ServerResponse, status: number, next: string, text = '') =>
    page(
      response,
      status,
      `<main id="detour-login">${text}${form('/login', next, 'Sign in')}
<a href="/register?next=${encodeURIComponent(next)}">New here?</a></main>`,
    );

  return startRecordingUpstream(async (request, response, recorded) => {
    await recorded.whole;
    const url = new URL(request.url ?? '/', 'http://school');
    const sent = new URLSearchParams(recorded.body.toString());
    const next = ownPath(sent.get('next') ?? url.searchParams.get('next'));
    const [name, password] = [sent.get('name') ?? '', sent.get('password') ?? ''];
    switch (`${request.method} ${url.pathname}`) {
      case 'GET /login':
        return login(response, 200, next);
      case 'GET /register':
        return page(response, 200, `<main id="detour-register">${form('/register', next, 'Register')}</main>`);
      case 'POST /register':
        accounts.set(name, password);
        return page(
          response,
          200,
          `<main id="detour-thanks">Thank you. <a href="/login?next=${encodeURIComponent(next)}">Go on</a></main>`,
        );
      case 'POST /login': {
        if (accounts.get(name) !== password) return login(response, 401, next, '<p role="alert">Wrong.</p>');
        const session = randomBytes(16).toString('hex');
        sessions.set(session, name);
        response.writeHead(303, { location: next, 'set-cookie': `school_session=${session}; Path=/; HttpOnly` });
        return void response.end();
      }
      case 'GET /api/me': {
        const member = sessions.get(sessionOf(request));
        response.writeHead(member === undefined ? 401 : 200, { 'content-type': 'application/json' });
        return void response.end(JSON.stringify({ id: member, email: `${member}@school.example` }));
      }
      default:
        return page(response, 200, '<main id="detour-home">Home</main>');
    }
  });
}

function ownPath(given: string | null): string {
  return given !== null && /^\/(?![/\\])[^\p{Cc}]*$/u.test(given) ? given : '/';
}

function sessionOf(request: IncomingMessage): string {
  return /(?:^|; )school_session=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
