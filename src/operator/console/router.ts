import { randomUUID } from 'node:crypto';
import { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from 'express';
import { LONGEST_REASON } from '../../actions/action.ts';
import { asGatewayError, GatewayError, invalidRequest } from '../../errors.ts';
import { readBody } from '../../http/body.ts';
import { queryOf, readFields, readParams } from '../../http/fields.ts';
import { html } from '../../http/html.ts';
import { isNavigation } from '../../http/navigation.ts';
import type { Access } from './access.ts';
import type { ConsolePage, ConsoleRequest } from './console-page.ts';
import { keep } from './console-state.ts';
import { addressOf, type ConsoleFrame, ICON, type Operator, SIGN_IN, SIGN_OUT, STYLESHEET, see } from './frame.ts';
import { isConsolePath, ROOT } from './paths.ts';
import { isOwnRequest } from './same-origin.ts';
import type { ConsoleSessions, Session } from './session.ts';
import type { ConsoleSources } from './sources.ts';

interface RouterParts<Sources> {
  readonly frame: ConsoleFrame;
  readonly pages: readonly ConsolePage<Sources>[];
  readonly sources: Sources;
  readonly sessions: ConsoleSessions;
  readonly access: Access;
  /** Notices of the last actions, by session: each is shown once. */
  readonly notices: Map<string, string>;
  /** Receives each action, which continues when the browser disconnects. The work does not reject. */
  readonly hold: (work: Promise<void>) => void;
}

/** What the router itself uses. */
type Reporting = Pick<ConsoleSources, 'onError'>;

/** Bytes of a form. No page has a text area. */
const LONGEST_FORM = 16 * 1024;
const FIELDS = { longest: 8192 };
const ENDED = 'Your session has ended. Sign in, and try again.';
const METHODS = ['GET', 'HEAD', 'POST'];

/**
 * Serves the console's pages below /console. Nothing is passed on: the admin listener has already checked `Host`, and every other
 * check is made here.
 */
export function consoleRouter<Sources extends Reporting>(parts: RouterParts<Sources>): RequestHandler {
  const { frame, access, sessions, pages } = parts;
  const router = Router({ caseSensitive: true, strict: true });
  router.use((request, response, next) => {
    response.locals.requestId = randomUUID();
    response.setHeader('x-request-id', response.locals.requestId);
    if (!METHODS.includes(request.method))
      throw new GatewayError('method_not_allowed', { headers: { allow: METHODS.join(', ') } });
    next();
  });
  router.get(STYLESHEET, (_request, response) => frame.sendStylesheet(response));
  router.get(ICON, (_request, response) => frame.sendIcon(response));
  router.use((request, _response, next) => {
    if (!isNavigation(request, true) || (request.method === 'POST' && !isOwnRequest(request)))
      throw new GatewayError('forbidden', { message: 'Requests from other pages are refused.' });
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
  router.post(SIGN_OUT, async (request, response) => {
    await readRequest(request, response, sessions);
    await access.signOut(request, response, sessionOf(response) as Session);
  });
  for (const page of pages) {
    if (page.show !== undefined) router.get(addressOf(page.path), answering(parts, page, page.show));
    if (page.submit !== undefined) router.post(addressOf(page.path), answering(parts, page, page.submit));
  }
  router.use(() => {
    throw new GatewayError('not_found', { message: 'The console has no page at this address.' });
  });
  router.use(failures(parts));
  return router;
}

/** Answers with a page, or with a redirect to one that shows a notice. */
function answering<Sources>(
  { frame, sessions, sources, notices, hold }: RouterParts<Sources>,
  { title, path, under = `/${path.split('/')[1]}` }: ConsolePage<Sources>,
  answer: NonNullable<ConsolePage<Sources>['show']>,
): RequestHandler {
  return async (request, response) => {
    const { id } = sessionOf(response) as Session;
    const work = readRequest(request, response, sessions).then((read) => answer(sources, read));
    hold(Promise.allSettled([work]).then(() => {}));
    const answered = await work;
    if ('leave' in answered) return see(response, answered.leave);
    if ('see' in answered) {
      if (!isConsolePath(answered.see)) throw new Error(`${answered.see} is no path of the console`);
      keep(notices, id, answered.done);
      return see(response, answered.see);
    }
    const notice = notices.get(id);
    notices.delete(id);
    const view = { title, under, ...answered, notice, operator: operatorOf(response, sessions) };
    return frame.send(response, 200, view);
  };
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
  const query = readFields(queryOf(request.originalUrl), FIELDS);
  const params = readParams(request.params);
  const { csrf: shown, ...form }: Readonly<Record<string, string>> =
    request.method === 'POST' ? readFields((await readBody(request, LONGEST_FORM)).toString('utf8'), FIELDS) : {};
  if (request.method === 'POST' && !sessions.isCsrf(shown, session))
    throw new GatewayError('forbidden', {
      message: 'This form is out of date. Go back, reload the page and try again.',
    });
  const { reason = '' } = form;
  if (reason.length > LONGEST_REASON) throw invalidRequest(`The reason is longer than ${LONGEST_REASON} characters.`);
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
function failures({
  frame,
  sessions,
  sources: { onError },
}: Pick<RouterParts<Reporting>, 'frame' | 'sessions' | 'sources'>): ErrorRequestHandler {
  return (thrown: unknown, _request, response, _next) => {
    const failure =
      thrown instanceof URIError ? invalidRequest('The address is not percent-encoded UTF-8.') : asGatewayError(thrown);
    if (failure.status >= 500) onError(thrown);
    const operator = operatorOf(response, sessions);
    const body = html`<p>${failure.message}</p>
${operator === undefined ? html`<p><a href="${SIGN_IN}">Sign in</a></p>` : html`<p><a href="${ROOT}">Back to the overview</a></p>`}
<p class="muted">Request <code>${String(response.locals.requestId)}</code></p>`;
    frame.send(response, failure.status, { title: headingOf(failure), body, operator }, failure.headers);
  };
}

function headingOf({ code, status }: GatewayError): string {
  if (code === 'not_found') return 'Not found';
  if (code === 'unauthorized') return 'Sign in again';
  if (code === 'forbidden') return 'Not allowed';
  if (code === 'store_unavailable') return 'The store is unavailable';
  return status >= 500 ? 'Something went wrong' : 'This did not work';
}
