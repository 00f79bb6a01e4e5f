import { randomUUID } from 'node:crypto';
import { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from 'express';
import { asGatewayError, GatewayError } from '../../errors.ts';
import { readBody } from '../../http/body.ts';
import { html } from '../../http/html.ts';
import { isNavigation } from '../../http/navigation.ts';
import { type Access, isConsolePath } from './access.ts';
import type { ConsoleAnswer, ConsoleRequest, ConsoleRoute } from './console-route.ts';
import { keep } from './console-state.ts';
import { checkedParams, LONGEST_FORM, readFields, readQuery } from './fields.ts';
import { ICON, type Operator, PAGE_HEADERS, ROOT, SIGN_IN, SIGN_OUT, STYLESHEET, see, sendView } from './frame.ts';
import { isOwnRequest } from './same-origin.ts';
import type { ConsoleSessions, Session } from './session.ts';

export interface RouterOptions {
  readonly school: string;
  readonly stylesheet: string;
  readonly icon: string;
  readonly routes: readonly ConsoleRoute[];
  readonly sessions: ConsoleSessions;
  readonly access: Access;
  /** Notices of the last actions, by session: each is shown once. */
  readonly notices: Map<string, string>;
  /** Told of each action, which continues when the browser disconnects. The work does not reject. */
  readonly hold: (work: Promise<void>) => void;
  /** Receives internal errors, which the pages do not show. */
  readonly onError: (error: unknown) => void;
}

const LONGEST_REASON = 200;
const ENDED = 'Your session has ended. Sign in, and try again.';
const METHODS = ['GET', 'HEAD', 'POST'];

/**
 * Serves the console's pages below /console. Nothing is passed on: the admin listener has already checked `Host`, and every other
 * check is made here.
 */
export function consoleRouter(options: RouterOptions): RequestHandler {
  const { school, access, sessions } = options;
  const router = Router({ caseSensitive: true, strict: true });
  router.use((request, response, next) => {
    response.locals.requestId = randomUUID();
    response.setHeader('x-request-id', response.locals.requestId);
    if (!METHODS.includes(request.method))
      throw new GatewayError('method_not_allowed', { headers: { allow: METHODS.join(', ') } });
    next();
  });
  router.get(STYLESHEET, asset('text/css; charset=utf-8', options.stylesheet));
  router.get(ICON, asset('image/svg+xml', options.icon));
  router.use((request, _response, next) => {
    if (!isNavigation(request, true) || (request.method === 'POST' && !isOwnRequest(request)))
      throw new GatewayError('forbidden', { message: 'Requests from other pages are refused.' });
    next();
  });
  router.use((_request, _response, next) => {
    access.requireConfigured();
    next();
  });
  router.get(SIGN_IN, (request, response) => access.form(request, response));
  router.post(SIGN_IN, (request, response) => access.submit(request, response));
  router.use(async (request, response, next) => {
    const session = await access.find(request, response);
    if (session === undefined) {
      if (request.method === 'POST') throw new GatewayError('unauthorized', { message: ENDED });
      return access.ask(request, response);
    }
    response.locals.session = session;
    next();
  });
  serve(router, options);
  router.use(() => {
    throw new GatewayError('not_found', { message: 'The console has no page at this address.' });
  });
  router.use(failures(options));
  return router;

  function serve(router: Router, { routes, notices, hold }: RouterOptions): void {
    router.post(SIGN_OUT, async (request, response) => {
      const session = sessionOf(response) as Session;
      await readRequest(request, response, sessions);
      await access.signOut(request, response, session);
    });
    for (const { method, path, run } of routes) {
      const at = path === '/' ? ROOT : ROOT + path;
      router[method === 'GET' ? 'get' : 'post'](at, async (request, response) => {
        const session = sessionOf(response) as Session;
        const work = readRequest(request, response, sessions).then(run);
        hold(Promise.allSettled([work]).then(() => {}));
        const answer: ConsoleAnswer = await work;
        if ('see' in answer) {
          if (!isConsolePath(answer.see)) throw new Error(`${answer.see} is no path of the console`);
          keep(notices, session.id, answer.done);
          return see(response, answer.see);
        }
        const notice = notices.get(session.id);
        notices.delete(session.id);
        return sendView(response, 200, { ...answer, notice, operator: operatorOf(response, sessions) }, school);
      });
    }
  }
}

/** The same for everyone, and without data. */
function asset(type: string, text: string): RequestHandler {
  const headers = { ...PAGE_HEADERS, 'content-type': type, 'cache-control': 'private, max-age=60' };
  return (_request, response) => void response.writeHead(200, headers).end(text);
}

function sessionOf(response: Response): Session | undefined {
  return response.locals.session as Session | undefined;
}

function operatorOf(response: Response, sessions: ConsoleSessions): Operator | undefined {
  const session = sessionOf(response);
  return session && { certificate: session.bound.certificate, csrf: sessions.csrf(session) };
}

/** Bounds, parses and checks what a route is asked. Throws `invalid_request` and `forbidden`. */
async function readRequest(request: Request, response: Response, sessions: ConsoleSessions): Promise<ConsoleRequest> {
  const session = sessionOf(response) as Session;
  const query = readQuery(request.originalUrl.split('?').slice(1).join('?'));
  const params = checkedParams(request.params);
  const { csrf: shown, ...form }: Readonly<Record<string, string>> =
    request.method === 'POST' ? readFields((await readBody(request, LONGEST_FORM)).toString('utf8')) : {};
  if (request.method === 'POST' && !sessions.isCsrf(shown, session))
    throw new GatewayError('forbidden', {
      message: 'This form is out of date. Go back, reload the page and try again.',
    });
  const { reason = '' } = form;
  if (reason.length > LONGEST_REASON)
    throw new GatewayError('invalid_request', { message: `The reason is longer than ${LONGEST_REASON} characters.` });
  const decision = {
    by: 'operator',
    reason: reason === '' ? undefined : reason,
    certificate: session.bound.certificate,
    address: request.socket.remoteAddress,
    requestId: response.locals.requestId as string,
  } as const;
  return { params, query, form, csrf: sessions.csrf(session), decision };
}

/** Failures as pages, by the one table in errors.ts. */
function failures({ school, sessions, onError }: RouterOptions): ErrorRequestHandler {
  return (thrown: unknown, _request, response, _next) => {
    const failure =
      thrown instanceof URIError
        ? new GatewayError('invalid_request', { message: 'The address is not percent-encoded UTF-8.' })
        : asGatewayError(thrown);
    if (failure.status >= 500) onError(thrown);
    const operator = operatorOf(response, sessions);
    const body = html`<p>${failure.message}</p>
${operator === undefined ? html`<p><a href="${SIGN_IN}">Sign in</a></p>` : html`<p><a href="${ROOT}">Back to the overview</a></p>`}
<p class="muted">Request <code>${String(response.locals.requestId)}</code></p>`;
    sendView(response, failure.status, { title: headingOf(failure), body, operator }, school, failure.headers);
  };
}

function headingOf({ code, status }: GatewayError): string {
  if (code === 'not_found') return 'Not found';
  if (code === 'unauthorized') return 'Sign in again';
  if (code === 'forbidden') return 'Not allowed';
  if (code === 'store_unavailable') return 'The store is unavailable';
  return status >= 500 ? 'Something went wrong' : 'This did not work';
}
