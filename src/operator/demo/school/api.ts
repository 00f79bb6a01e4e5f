import express, { type Express, type Request, type RequestHandler, Router } from 'express';
import { isObject, type JsonObject } from '../../../http/json-object.ts';
import { ApiError, jsonErrors, nothingHere } from './api-error.ts';
import type { SchoolData } from './data/school-data.ts';
import { type GateKeys, gateIdentity } from './gate-identity.ts';

/** What every service of the school needs. `now` is in Unix seconds. */
export interface Parts {
  readonly data: SchoolData;
  readonly gate: () => GateKeys | undefined;
  readonly now: () => number;
}

const DEFAULT_PER_PAGE = 20;
const LARGEST_PER_PAGE = 50;

/** Parses JSON bodies. `request.body` stays undefined for other content types. */
export const jsonBody = express.json({ limit: '64kb' });

/** An Express application without X-Powered-By and with case-sensitive paths. */
export function application(): Express {
  return express().disable('x-powered-by').enable('case sensitive routing');
}

/** A JSON API. `audience` is its name in the gate's assertions, which alone identify callers, never a cookie. */
export function gatedApi(audience: string, { gate, now }: Parts, addRoutes: (router: Router) => void): Router {
  const router = Router({ caseSensitive: true });
  router.use(gateIdentity(audience, gate, now), (_request, response, next) => {
    response.set('cache-control', 'private, no-cache');
    next();
  });
  addRoutes(router);
  return router.use(nothingHere, jsonErrors);
}

type Methods = Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete', RequestHandler | RequestHandler[]>>;

/** Adds the handlers of an address. Other methods are refused with 405, naming those that are allowed. */
export function addRoute(router: Router, path: string | string[], methods: Methods): void {
  const route = router.route(path);
  for (const [method, handlers] of Object.entries(methods)) route[method as keyof Methods]([handlers].flat());
  const allow = Object.keys(methods)
    .map((method) => (method === 'get' ? 'GET, HEAD' : method.toUpperCase()))
    .join(', ');
  route.all(() => {
    throw new ApiError(405, 'method_not_allowed', `Only ${allow} here.`, { allow });
  });
}

/** The body of a request that passed `jsonBody`. Throws unless it is an object. */
export function jsonObject(request: Request): JsonObject {
  const body: unknown = request.body;
  if (body === undefined && !request.is('application/json')) {
    throw new ApiError(415, 'unsupported_media_type', 'Send a JSON body with Content-Type application/json.');
  }
  if (!isObject(body)) {
    throw new ApiError(400, 'bad_request', 'The body must be a JSON object.');
  }
  return body;
}

/** The page that `page` and `per_page` of the request select. Throws for invalid values. */
export function pageOf(request: Request, rows: readonly object[]): object {
  const page = wholeNumber(request, 'page', 1);
  const per_page = Math.min(wholeNumber(request, 'per_page', DEFAULT_PER_PAGE), LARGEST_PER_PAGE);
  const end = page * per_page;
  const next_page = end < rows.length ? page + 1 : null;
  return { data: rows.slice(end - per_page, end), meta: { page, per_page, total: rows.length, next_page } };
}

/** A query parameter as a whole number from 1, or `absent` if missing. Throws for anything else. */
export function wholeNumber(request: Request, name: string, absent: number): number {
  const given = queryText(request, name) ?? String(absent);
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given);
  throw new ApiError(400, 'bad_request', `${name} must be a whole number from 1.`);
}

/** A query parameter; undefined if missing. Throws for a repeated one. */
export function queryText(request: Request, name: string): string | undefined {
  const given = request.query[name];
  if (given === undefined || typeof given === 'string') return given;
  throw new ApiError(400, 'bad_request', `${name} must not be repeated.`);
}
