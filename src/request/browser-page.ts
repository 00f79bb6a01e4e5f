import type { IncomingMessage } from 'node:http';
import type { Handler } from '../http/exchange.ts';
import type { Route } from './route.ts';

/** Whether an endpoint has a page, so that its answer to this method depends on Accept. */
export function hasPage({ page }: Pick<Route, 'page'>, { method }: IncomingMessage): boolean {
  return page !== undefined && (method === 'GET' || method === 'HEAD');
}

/** The page of an endpoint, if a browser asks for it. */
export function browserPage(route: Pick<Route, 'page'>, request: IncomingMessage): Handler | undefined {
  return hasPage(route, request) && asksForPage(request) ? route.page : undefined;
}

/** Browsers name HTML, and the types of MCP at most by a wildcard. */
function asksForPage({ headers: { accept = '' } }: IncomingMessage): boolean {
  return /\btext\/html\b/i.test(accept) && !/\b(?:text\/event-stream|application\/json)\b/i.test(accept);
}
