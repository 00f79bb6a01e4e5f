// The admin listener and what operators watch: health, metrics, audit and access logs, observe mode.

import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { writeAnswer } from '../http/answer.ts';
import { isFromPage } from './admin-callers.ts';
import { refusalPage } from './admin-page.ts';
import { type Health, type HealthChecks, healthLines } from './health.ts';

export interface AdminOptions {
  readonly health: HealthChecks;
  /** Whether Host names this listener; see `hostCheck`. */
  readonly isOurs: (request: Request) => boolean;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** What the parts of the gate answer, by path. */
  readonly answers: Readonly<Record<string, AdminRoute>>;
  /** Commands of the backend and the operator. They authenticate their callers themselves. */
  readonly commands: RequestHandler;
  /** The operator's console, which authenticates its callers itself and passes nothing on. */
  readonly console: RequestHandler;
}

interface Reply {
  readonly status?: number;
  readonly text: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type AdminReply = Reply | { readonly json: object };

/** Answers a GET at one address. Throws GatewayError `store_unavailable`. */
export type AdminRoute = (request: Request) => AdminReply | Promise<AdminReply>;

interface Refusal extends Reply {
  /** For the page in a browser, which says `text` unless there is a sentence. */
  readonly title: string;
  readonly sentence?: string;
}

const JSON_TYPE = 'application/json';
const MISDIRECTED: Refusal = {
  title: 'Another name is needed',
  status: 421,
  text: 'This host name is not one of the listener’s. Use its address (127.0.0.1), localhost, a name without dots, or the name in listen.admin.host or listen.probes.host.',
};
const NOT_FOUND: Refusal = {
  status: 404,
  title: 'Not found',
  text: 'not found',
  sentence: 'The admin listener has nothing at this address.',
};
const FROM_PAGE: Refusal = {
  status: 403,
  title: 'Not allowed',
  text: 'requests from web pages are refused',
  sentence: 'Requests from other web pages are refused.',
};
const NO_METHOD: Reply = { status: 405, text: 'method not allowed', headers: { allow: 'GET, HEAD' } };
const UNREACHABLE: Reply = { status: 503, text: 'the store is unavailable' };

/**
 * The admin listener:
 * - `/livez`: the process is running; `/readyz`: it can receive requests. With `?verbose`, both list their checks, as
 *   JSON if the client accepts it.
 * - `/metrics`: for Prometheus.
 * - `/observed`: the routes that observe mode proposes; `/observed.json`: everything it counted.
 * - `/events`: events waiting for the backend.
 * - `/console`: the operator's console, to which `/` leads a browser.
 *
 * Except for the console, these do not authenticate the caller: the listener is on loopback, answers only to its own
 * names, and refuses requests sent by web pages. Commands do authenticate, by `admin.hmac` or `admin.mtls`, so they
 * answer to any name.
 */
export function adminApp({ health, isOurs, metrics, answers, commands, console }: AdminOptions): Express {
  const app = plainApp();
  app.use((request, response, next) => {
    if (!isConsole(request.path)) return next();
    return isOurs(request) ? console(request, response, next) : refuse(request, response, MISDIRECTED);
  });
  app.use((request, response, next) => (isFromPage(request) ? refuse(request, response, FROM_PAGE) : next()));
  app.use(commands);
  app.use((request, response, next) => (isOurs(request) ? next() : refuse(request, response, MISDIRECTED)));
  app.get('/', (request, response, next) => {
    if (!wantsPage(request)) return next();
    const location = `${request.baseUrl}/console`;
    return send(response, { status: 303, text: `the console is at ${location}`, headers: { location } });
  });

  const served: Readonly<Record<string, AdminRoute>> = {
    '/livez': (request) => healthAnswer(request, health.live()),
    '/readyz': async (request) => healthAnswer(request, await health.ready()),
    '/metrics': metrics,
    ...answers,
  };
  for (const [path, answer] of Object.entries(served))
    app
      .route(path)
      .get(async (request, response) => {
        const reply = await answer(request);
        send(response, 'json' in reply ? asJson(reply.json) : reply);
      })
      .all((_request, response) => send(response, NO_METHOD));
  app.use((request, response) => refuse(request, response, NOT_FOUND));
  app.use(((_thrown, _request, response, _next) => send(response, UNREACHABLE)) satisfies ErrorRequestHandler);
  return app;
}

/** The console's own forms are requests from a page, so it decides about them itself. */
function isConsole(path: string): boolean {
  return path === '/console' || path.startsWith('/console/');
}

/**
 * What other machines may request of the admin listener: a kubelet's probes and Prometheus connect to the pod's
 * address, and a proxy asks for which names it may obtain certificates. These paths are passed on to `admin`, all but the
 * last without their query, because the verbose output is for operators only.
 */
export function probesApp(admin: RequestHandler): Express {
  const app = plainApp();
  app.get(['/livez', '/readyz', '/metrics', '/tls'], (request, response, next) => {
    if (request.path !== '/tls') request.url = request.path;
    return admin(request, response, next);
  });
  app.use((_request, response) => send(response, NOT_FOUND));
  return app;
}

/** An Express app that matches paths exactly and adds no field of its own to responses. */
function plainApp(): Express {
  return express().disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');
}

/** The result of a health check, in full if the query has `verbose`. */
function healthAnswer({ path, query, headers }: Request, result: Health): Reply {
  const status = result.ok ? 200 : 503;
  if (query.verbose === undefined) return { status, text: result.text };
  if (headers.accept?.includes(JSON_TYPE) !== true) return { status, text: healthLines(result, path.slice(1)) };
  const { ok, checks } = result;
  return { status, contentType: JSON_TYPE, text: JSON.stringify({ ok, checks }) };
}

function asJson(value: object): Reply {
  return { contentType: JSON_TYPE, text: JSON.stringify(value, undefined, 2) };
}

/** Whether a person looks: browsers ask for HTML, and programs for anything. */
function wantsPage({ headers }: Request): boolean {
  return headers.accept?.includes('text/html') === true;
}

/** Sends a refusal, as a page if a browser shows it. */
function refuse(request: Request, response: Response, reply: Refusal): void {
  const { title, text, sentence = text } = reply;
  send(response, wantsPage(request) ? { ...reply, ...refusalPage(title, sentence, request.baseUrl) } : reply);
}

/** Sends text with a line feed at its end. Nothing here may be cached. */
function send(response: Response, { status = 200, text, contentType, headers }: Reply): void {
  writeAnswer(response, {
    status,
    headers: { 'content-type': contentType ?? 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers },
    body: text.endsWith('\n') ? text : `${text}\n`,
  });
}
