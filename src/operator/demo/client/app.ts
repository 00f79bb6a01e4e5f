import { randomBytes } from 'node:crypto';
import express from 'express';
import { LRUCache } from 'lru-cache';
import { type Html, html } from '../../../http/html.ts';
import { addAssets, documentOf, pageHeaders } from '../site.ts';
import SCOPES from './scopes.json' with { type: 'json' };
import { ACTIONS, begin, finish } from './steps.ts';
import { problemPage, walkPage, welcome } from './views.ts';
import { inTurn, type Walk } from './walk.ts';

const COOKIE = 'study_buddy';
/** Seconds without a request after which a session expires. */
const IDLE = 2 * 3600;
const COOKIE_OPTIONS = { httpOnly: true, sameSite: 'lax', path: '/' } as const;

/** Study Buddy as an Express application at `url`, for the gate with the origin `gate`. `clock` is in milliseconds. */
export function studyBuddy(url: string, gate: string, clock: () => number): express.Express {
  const sessions = memorySessions(clock);
  const app = express();
  app.disable('x-powered-by').use(pageHeaders, guard(url), express.urlencoded({ extended: false, limit: '8kb' }));
  addAssets(app, 'client', '#0f766e');

  app.get('/', (request, response) => {
    const walk = sessions.find(request.headers.cookie);
    send(
      response,
      200,
      walk === undefined ? welcome(gate) : walkPage(walk, clock(), request.query.secrets === 'shown'),
    );
  });

  app.post('/connect', async (request, response) => {
    const scope = chosenScope(request.body);
    const walk: Walk = { gate, redirectUri: `${url}/callback`, scope, steps: [], tail: Promise.resolve() };
    response.cookie(COOKIE, sessions.keep(walk), { ...COOKIE_OPTIONS, maxAge: IDLE * 1000 });
    await inTurn(walk, () => begin(walk));
    response.redirect(303, walk.request?.url ?? latest(walk));
  });

  app.get('/callback', async (request, response) => {
    const callback = new URL(request.originalUrl, url);
    const walk = sessions.find(request.headers.cookie);
    // A wrong state has no effect: otherwise a foreign page could end a sign-in in progress.
    const expected = callback.searchParams.getAll('state').join(' ') === walk?.request?.state;
    if (walk === undefined || !expected || walk.callback !== undefined) {
      const advice =
        'Its state is unknown or was already used. If you did not just press Connect, someone may have sent you here.';
      return send(response, 400, problemPage('Study Buddy is not expecting this response in this browser.', advice));
    }
    walk.callback = callback;
    await inTurn(walk, () => finish(walk));
    // Redirect, so that the code does not stay in the address bar and a reload does not send it again.
    response.redirect(303, walk.courses === undefined ? latest(walk) : '/');
  });

  app.post('/start-over', (request, response) => {
    sessions.forget(request.headers.cookie);
    response.clearCookie(COOKIE, COOKIE_OPTIONS).redirect(303, '/');
  });

  app.post('/:action', async (request, response, next) => {
    const { action } = request.params;
    const work = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (work === undefined) return next();
    const walk = sessions.find(request.headers.cookie);
    if (walk === undefined) return response.redirect(303, '/');
    // Without tokens, the button was on an outdated page.
    await inTurn(walk, async () => walk.tokens && work(walk));
    response.redirect(303, walk.over === 'disconnected' ? '/' : latest(walk));
  });

  app.use((_request, response) => {
    send(response, 404, problemPage('There is nothing at this address.', 'Go back and start again.'));
  });
  const failed: express.ErrorRequestHandler = ({ status = 500 }: { status?: number }, _request, response, _next) => {
    const page =
      status < 500
        ? problemPage('This request is invalid.', 'Go back and try again.')
        : problemPage('Study Buddy failed.', 'Start over. This is not the fault of the school.');
    send(response, status, page);
  };
  return app.use(failed);
}

function send(response: express.Response, status: number, content: Html): void {
  const body = html`<header><h1><a href="/"><img src="/favicon.ico" alt="" width="36" height="36">Study Buddy</a></h1>
<p>A sample third-party app</p></header>
<main id="study-buddy">${content}</main>`;
  response.status(status).type('html').send(documentOf('Study Buddy', body));
}

/** The anchor of the newest step. */
function latest({ steps }: Walk): string {
  return `/#step-${steps.at(-1)?.number ?? 1}`;
}

/** The chosen scopes, limited to those on offer. A POST without any gets the defaults. */
function chosenScope(body: unknown): string {
  const { scope } = Object(body) as { scope?: unknown };
  const wanted = scope === undefined ? undefined : [scope].flat();
  const scopes = SCOPES.filter(({ name, chosen }) => wanted?.includes(name) ?? chosen);
  return scopes.map(({ name }) => name).join(' ');
}

/**
 * Protects sessions from other sites: requests for other host names are redirected to `url`, and forms of other origins
 * are refused. SameSite alone is not enough, since all ports of localhost are the same site.
 */
function guard(url: string): express.RequestHandler {
  const { host } = new URL(url);
  return (request, response, next) => {
    const reading = request.method === 'GET' || request.method === 'HEAD';
    if (request.headers.host !== host && reading) return response.redirect(302, `${url}/`);
    const { origin } = request.headers;
    if (reading || (request.headers.host === host && (origin === undefined || origin === url))) return next();
    response.status(403).type('text').send('This form was not sent from Study Buddy.\n');
  };
}

/** The walks of up to 500 browsers, in memory; the least recently used one is dropped first. */
function memorySessions(clock: () => number) {
  const walks = new LRUCache<string, Walk>({
    max: 500,
    ttl: IDLE * 1000,
    ttlResolution: 0,
    updateAgeOnGet: true,
    perf: { now: clock },
  });
  const idOf = (cookie = '') => new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]+)`).exec(cookie)?.[1] ?? '';
  return {
    /** The walk of a request's Cookie header; undefined when missing or expired. */
    find: (cookie: string | undefined) => walks.get(idOf(cookie)),
    /** Keeps a walk and returns the id of its session. */
    keep(walk: Walk): string {
      const id = randomBytes(32).toString('base64url');
      walks.set(id, walk);
      return id;
    },
    forget: (cookie: string | undefined) => void walks.delete(idOf(cookie)),
  };
}
