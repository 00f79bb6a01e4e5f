import type { IncomingMessage } from 'node:http';
import type { Handler } from '../http/exchange.ts';
import { opensPage } from '../http/navigation.ts';
import type { Route } from './route.ts';

/** Whether an endpoint has a page, so that its answer to this method depends on who asks. */
export function hasPage({ page }: Pick<Route, 'page'>, { method }: IncomingMessage): boolean {
  return page !== undefined && (method === 'GET' || method === 'HEAD');
}

/** The page of an endpoint, if a browser asks for it. Programs get nothing from a GET at the addresses for assistants. */
export function browserPage(
  { page, voice }: Pick<Route, 'page' | 'voice'>,
  request: IncomingMessage,
): Handler | undefined {
  return page && opensPage(request, voice === 'jsonrpc' ? 'navigate' : undefined) ? page : undefined;
}
