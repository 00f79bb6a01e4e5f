import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type App, registerApp } from './app.ts';
import { connectSignedIn } from './connection.ts';
import { type RecordingUpstream, startRecordingUpstream } from './recording-upstream.ts';

/** A legacy course site that identifies members only by a browser session cookie. */
export interface CookieSchool extends Pick<RecordingUpstream, 'url' | 'requests' | 'close'> {
  /** Starts a new session for a member and returns the cookie's value. */
  signIn(member: string): string;
  signOut(session: string): void;
  /** Another member signs in with the same session; the cookie does not change. */
  passTo(session: string, member: string): void;
  /** How the whoami endpoint responds: normally, with a new cookie each time, or with 500. */
  whoami: 'well' | 'rotating' | 'ill';
  /** Whether each response to a member sets a new session cookie and invalidates the old one. */
  rotates: boolean;
  /** How the site responds without a session: with 401, with 403, or with a redirect to its sign-in page. */
  nobody: 'status' | 'forbidden' | 'redirect';
  /** How the site responds to members, if not with 200: as to a missing permission. */
  denies: 'status' | 'redirect' | undefined;
  /** The Cookie header of each request under /api/legacy, in order. */
  cookies(): string[];
  /** Delays the responses under /api/legacy until it resolves. */
  hold: Promise<void> | undefined;
}

const sessionOf = (request: IncomingMessage): string =>
  /(?:^|; )school_session=([^;]*)/.exec(request.headers.cookie ?? '')?.[1] ?? '';

export async function startCookieSchool(): Promise<CookieSchool> {
  const sessions = new Map<string, string>();
  const begin = (member: string): string => {
    const session = `sess-${randomBytes(18).toString('hex')}`;
    sessions.set(session, member);
    return session;
  };
  const upstream = await startRecordingUpstream(async (request, response, recorded) => {
    await recorded.whole;
    const session = sessionOf(request);
    const member = sessions.get(session);
    const { pathname } = new URL(request.url ?? '', 'http://school');
    const answer = (status: number, body: object, headers: Record<string, string | string[]> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    if (pathname === '/api/me') {
      if (school.whoami === 'ill') return void answer(500, {});
      if (school.whoami === 'rotating' && member !== undefined) {
        sessions.delete(session);
        const set = `school_session=${begin(member)}; Path=/; HttpOnly`;
        return void answer(200, { id: member, email: `${member}@school.example`, name: member }, { 'set-cookie': set });
      }
      // A session that the site began for a visitor is no member's.
      const isMember = member !== undefined && member !== 'nobody';
      answer(isMember ? 200 : 401, { id: member, email: `${member}@school.example`, name: member });
      return;
    }
    if (pathname === '/csrf') {
      response.writeHead(204, { 'set-cookie': `xsrf=token-of-${member}%3D; Path=/` }).end();
      return;
    }
    await school.hold;
    if (!sessions.has(session)) {
      const fresh = { 'set-cookie': `school_session=${begin('nobody')}; Path=/` };
      if (school.nobody === 'redirect') response.writeHead(302, { ...fresh, location: '/login?next=x' }).end();
      else answer(school.nobody === 'status' ? 401 : 403, { error: 'who are you?' }, fresh);
      return;
    }
    const set = ['theme=dark; Path=/'];
    if (school.rotates) {
      sessions.delete(session);
      set.push(`school_session=${begin(String(member))}; Path=/; HttpOnly`);
    }
    if (school.denies === 'redirect') return void answer(302, {}, { 'set-cookie': set, location: '/login?next=x' });
    if (school.denies === 'status') return void answer(403, { error: 'forbidden' }, { 'set-cookie': set });
    const { origin = '', referer = '', 'x-xsrf-token': token = '' } = request.headers;
    answer(200, { member, origin, referer, token, body: recorded.body.toString() }, { 'set-cookie': set });
  });
  const school: CookieSchool = {
    url: upstream.url,
    requests: upstream.requests,
    close: upstream.close,
    signIn: begin,
    signOut: (session) => void sessions.delete(session),
    passTo: (session, member) => void sessions.set(session, member),
    whoami: 'well',
    rotates: false,
    nobody: 'status',
    denies: undefined,
    hold: undefined,
    cookies: () =>
      upstream.requests
        .filter(({ target }) => target.startsWith('/api/legacy'))
        .map((request) => request.values('cookie').join(' | ')),
  };
  return school;
}

export interface ConnectedMember {
  readonly app: App;
  readonly token: string;
  readonly refreshToken: string;
  /** The consent page the member saw. */
  readonly consent: string;
}

/** Connects a new app, in a browser that sends these cookies. */
export async function connectWith(origin: string, cookies: Readonly<Record<string, string>>): Promise<ConnectedMember> {
  const app = await registerApp(origin);
  const { tokens, consent } = await connectSignedIn(app, cookies);
  return { app, token: tokens.access_token, refreshToken: String(tokens.refresh_token), consent };
}
