import { stepAt } from '../authorization-server/connection-steps.ts';
import { asGatewayError, oauthError, renderFailure } from '../errors.ts';
import { writeAnswer } from '../http/answer.ts';
import { opensPage } from '../http/navigation.ts';
import type { Routed, Routing } from '../upstream/routing.ts';
import { browserPage } from './browser-page.ts';
import { CORS_HEADERS } from './cors.ts';
import type { Incoming } from './incoming.ts';
import type { RequestParts } from './parts.ts';
import type { Route } from './route.ts';

/** Answers a failed request in the error format of its route. `target` is undefined if it could not be parsed. */
export function answerFailure(
  parts: RequestParts,
  {
    request,
    response,
    target,
    record,
  }: Omit<Incoming, 'target' | 'inFlight'> & { readonly target: Incoming['target'] | undefined },
  thrown: unknown,
): void {
  const { requestId } = record.provenance;
  const failure = asGatewayError(thrown);
  const kind = record.steps === undefined ? stepAt(record.path) : undefined;
  if (kind !== undefined) record.noteStep(kind);
  parts.records.failed(record, failure);
  if (response.headersSent || response.destroyed) {
    // A partial response must not look complete.
    response.destroy();
    return;
  }
  response.setHeader('x-request-id', requestId);
  const route = target === undefined ? undefined : routeAt(parts.routing, target.path, request.method ?? '');
  const shown = opensPage(request) || (route !== undefined && browserPage(route, request) !== undefined);
  const own = shown ? 'page' : route?.voice;
  const voice = own ?? (/\btext\/html\b/.test(request.headers.accept ?? '') ? 'page' : 'problem');
  if (route?.cors) for (const [name, value] of Object.entries(CORS_HEADERS)) response.setHeader(name, value);
  if (route?.voice === 'oauth') record.oauthError = oauthError(failure);
  if (voice === 'page' && failure.code === 'method_not_allowed' && route !== undefined && route.voice !== 'page')
    parts.appsOnly(response, failure);
  else if (voice === 'page') parts.errorPage(response, failure, requestId);
  else writeAnswer(response, renderFailure(failure, voice, { requestId, traceId: record.provenance.traceId() }));
}

/** The route that a failed request was meant for: the one with its method, otherwise the first one with its path. */
export function routeAt(routing: Routing<Route>, path: string, method: string): Route | undefined {
  const found = routing(method, path);
  if (found.kind === 'route') return (found.route as Routed<Route>).value;
  if (found.kind !== 'method_not_allowed') return undefined;
  const allowed = routing(found.allow[0] ?? 'GET', path);
  return allowed.kind === 'route' ? allowed.route.value : undefined;
}
