import express from 'express';
import type { Html } from '../../../http/html.ts';
import { ACTIONS } from './afterwards.ts';
import { begin, finish } from './flow.ts';
import { allowLeaving, guard, protect } from './guard.ts';
import { ICON, layout } from './layout.ts';
import { SCOPE_CHOICES } from './lessons.ts';
import { COOKIE, IDLE, inTurn, type Session, type Sessions } from './sessions.ts';
import { STYLE } from './style.ts';
import { problemPage, walkPage, welcome } from './views.ts';
import type { Walk } from './walk.ts';

export interface Places {
  /** The app's own address. */
  readonly url: string;
  /** The gate's origin. */
  readonly gate: string;
}

/** Study Buddy as an Express application. */
export function studyBuddy({ url, gate }: Places, sessions: Sessions): express.Express {
  const app = express();
  app.disable('x-powered-by').use(protect, guard(url), express.urlencoded({ extended: false, limit: '8kb' }));

  app.get('/style.css', (_request, response) => void response.type('css').send(STYLE));
  app.get('/icon.svg', (_request, response) => void response.type('svg').send(ICON));

  app.get('/', (request, response) => {
    const walk = sessions.find(request.headers.cookie)?.walk;
    // Both have a Connect button, which leads to the school.
    if (walk === undefined || walk.disconnected) allowLeaving(response);
    send(response, 200, walk === undefined ? welcome(gate) : walkPage(walk, request.query.secrets === 'shown'));
  });

  app.post('/connect', async (request, response) => {
    const session = sessions.find(request.headers.cookie) ?? sessions.create();
    response.cookie(COOKIE, session.id, { ...COOKIE_OPTIONS, maxAge: IDLE * 1000 });
    const walk: Walk = {
      gate,
      redirectUri: `${url}/callback`,
      scope: chosenScope(request.body),
      steps: [],
      revoked: false,
      disconnected: false,
    };
    session.walk = walk;
    const authorize = await inTurn(session, () => begin(walk));
    response.redirect(303, authorize ?? latest(session));
  });

  app.get('/callback', async (request, response) => {
    const callback = new URL(request.originalUrl, url);
    const session = sessions.find(request.headers.cookie);
    const walk = session?.walk;
    const [state, ...more] = callback.searchParams.getAll('state');
    // A wrong state has no effect: otherwise a foreign page could end a sign-in in progress.
    const expected = state !== undefined && state === walk?.pending?.state && more.length === 0;
    if (session === undefined || walk === undefined || !expected) return send(response, 400, problemPage(STRANGER));
    await inTurn(session, () => finish(walk, callback));
    // Redirect, so that the code does not stay in the address bar and a reload does not send it again.
    response.redirect(303, walk.courses === undefined ? latest(session) : '/');
  });

  app.post('/start-over', (request, response) => {
    const session = sessions.find(request.headers.cookie);
    if (session !== undefined) sessions.forget(session);
    response.clearCookie(COOKIE, COOKIE_OPTIONS).redirect(303, '/');
  });

  app.post('/:action', async (request, response, next) => {
    const { action } = request.params;
    const work = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (work === undefined) return next();
    const session = sessions.find(request.headers.cookie);
    const walk = session?.walk;
    if (session === undefined || walk === undefined) return response.redirect(303, '/');
    await inTurn(session, () => work(walk));
    response.redirect(303, walk.disconnected ? '/' : latest(session));
  });

  app.use((_request, response) => send(response, 404, problemPage(NOTHING_HERE)));
  const failed: express.ErrorRequestHandler = (error: { status?: unknown }, _request, response, _next) => {
    const status = typeof error.status === 'number' && error.status < 500 ? error.status : 500;
    send(response, status, problemPage(status < 500 ? UNREADABLE : BROKEN));
  };
  return app.use(failed);
}

const STRANGER = {
  message: 'Study Buddy is not expecting this response in this browser.',
  advice:
    'Its state is unknown or was already used. If you did not just press Connect, someone may have sent you here.',
};
const NOTHING_HERE = { message: 'There is nothing at this address.', advice: 'Go back and start again.' };
const UNREADABLE = { message: 'This request is invalid.', advice: 'Go back and try again.' };
const BROKEN = { message: 'Study Buddy failed.', advice: 'Start over. This is not the fault of the school.' };

const COOKIE_OPTIONS = { httpOnly: true, sameSite: 'lax', path: '/' } as const;

function send(response: express.Response, status: number, content: Html): void {
  response.status(status).type('html').send(layout(content));
}

/** The anchor of the newest step. */
function latest(session: Session): string {
  return `/#step-${session.walk?.steps.at(-1)?.number ?? 1}`;
}

/** The chosen scopes, limited to those on offer. A POST without any gets the defaults. */
function chosenScope(body: unknown): string {
  const { scope } = Object(body) as { scope?: unknown };
  const wanted = scope === undefined ? undefined : [scope].flat();
  const scopes = SCOPE_CHOICES.filter(([name, , byDefault]) => wanted?.includes(name) ?? byDefault);
  return scopes.map(([name]) => name).join(' ');
}
