import express from 'express';
import type { Html } from '../../http/html.ts';
import { ACTIONS } from './afterwards.ts';
import { begin, finish } from './flow.ts';
import { allowLeaving, guard, protect } from './guard.ts';
import { ICON, layout } from './layout.ts';
import { SCOPE_CHOICES } from './lessons.ts';
import { COOKIE, IDLE, type Session, type Sessions } from './sessions.ts';
import { STYLE } from './style.ts';
import { problemPage, walkPage, welcome } from './views.ts';
import { newWalk } from './walk.ts';

export interface Places {
  /** The app's own address. */
  readonly url: string;
  /** The gate's origin. */
  readonly gate: string;
  /** The address of GraphiQL, for trying queries with the app's token; undefined: it is not offered. */
  readonly graphiql: string | undefined;
}

/** The app. In: where it and its neighbours are, and where sessions are kept. */
export function studyBuddy({ url, gate, graphiql }: Places, sessions: Sessions): express.Express {
  const app = express();
  const redirectUri = `${url}/callback`;
  app.disable('x-powered-by').use(protect(graphiql), guard(url), express.urlencoded({ extended: false, limit: '8kb' }));

  app.get('/style.css', (_request, response) => void response.type('css').send(STYLE));
  app.get('/icon.svg', (_request, response) => void response.type('svg').send(ICON));

  app.get('/', (request, response) => {
    const walk = sessions.find(request.headers.cookie)?.walk;
    if (walk !== undefined)
      return send(response, 200, walkPage(walk, request.query.secrets === 'shown', graphiql !== undefined));
    allowLeaving(response);
    send(response, 200, welcome(gate));
  });

  app.post('/connect', async (request, response) => {
    const session = sessions.find(request.headers.cookie) ?? sessions.create();
    setCookie(response, session);
    const walk = newWalk({ gate, redirectUri, ...chosen(request.body) });
    session.walk = walk;
    const authorize = await sessions.inTurn(session, () => begin(walk));
    response.redirect(303, authorize ?? latest(session));
  });

  app.get('/callback', async (request, response) => {
    const callback = new URL(request.originalUrl, url);
    const session = sessions.find(request.headers.cookie);
    const walk = session?.walk;
    const states = callback.searchParams.getAll('state');
    // A wrong state changes nothing: a foreign page could otherwise end a sign-in that is under way.
    if (
      session === undefined ||
      walk?.pending === undefined ||
      states.length !== 1 ||
      states[0] !== walk.pending.state
    ) {
      return send(response, 400, problemPage(STRANGER));
    }
    await sessions.inTurn(session, () => finish(walk, callback));
    // Away from this address: the code must not stay in the address bar, nor be sent again by a reload.
    response.redirect(303, walk.courses === undefined ? latest(session) : '/');
  });

  app.post('/start-over', (request, response) => {
    const session = sessions.find(request.headers.cookie);
    if (session !== undefined) sessions.forget(session);
    response.clearCookie(COOKIE, COOKIE_OPTIONS).redirect(303, '/');
  });

  app.post('/graphiql', (request, response, next) => {
    if (graphiql === undefined) return next();
    const walk = sessions.find(request.headers.cookie)?.walk;
    if (walk?.tokens === undefined || walk.revoked) return response.redirect(303, '/');
    // Behind the #, which no browser sends to a server: the token is in no log there, and the page drops it at once.
    response.redirect(303, `${graphiql}#${new URLSearchParams({ access_token: walk.tokens.access })}`);
  });

  app.post('/:action', async (request, response, next) => {
    const { action } = request.params;
    const work = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (work === undefined) return next();
    const session = sessions.find(request.headers.cookie);
    const walk = session?.walk;
    if (session === undefined || walk === undefined) return response.redirect(303, '/');
    await sessions.inTurn(session, () => work(walk));
    response.redirect(303, latest(session));
  });

  app.use((_request, response) => send(response, 404, problemPage(NOTHING_HERE)));
  const failed: express.ErrorRequestHandler = (error: { status?: unknown }, _request, response, _next) => {
    const status = typeof error.status === 'number' && error.status < 500 ? error.status : 500;
    send(response, status, problemPage(status < 500 ? UNREADABLE : BROKEN));
  };
  return app.use(failed);
}

const STRANGER = {
  message: 'This is not an answer that Study Buddy is waiting for in this browser.',
  advice:
    'Its state is unknown or was used before. If you did not just press Connect, somebody may have sent you here.',
};
const NOTHING_HERE = { message: 'There is nothing at this address.', advice: 'Go back and start from there.' };
const UNREADABLE = { message: 'This request cannot be read.', advice: 'Go back and try again.' };
const BROKEN = { message: 'Study Buddy itself made a mistake.', advice: 'Start over; the school is not to blame.' };

const COOKIE_OPTIONS = { httpOnly: true, sameSite: 'lax', path: '/' } as const;

function setCookie(response: express.Response, session: Session): void {
  response.cookie(COOKIE, session.id, { ...COOKIE_OPTIONS, maxAge: IDLE * 1000 });
}

function send(response: express.Response, status: number, content: Html): void {
  response.status(status).type('html').send(layout(content));
}

/** Where the newest step stands on the page. */
function latest(session: Session): string {
  return `/#step-${session.walk?.steps.at(-1)?.number ?? 1}`;
}

/** The form's choices, as far as the form offers them. Without any (a plain POST), what is ticked by default. */
function chosen(body: unknown): { scope: string; clientType: 'public' | 'confidential' } {
  const { scope, client } = Object(body) as { scope?: unknown; client?: unknown };
  const wanted = scope === undefined ? undefined : [scope].flat();
  const scopes = SCOPE_CHOICES.filter(([name, , byDefault]) => wanted?.includes(name) ?? byDefault);
  return { scope: scopes.map(([name]) => name).join(' '), clientType: client === 'confidential' ? client : 'public' };
}
