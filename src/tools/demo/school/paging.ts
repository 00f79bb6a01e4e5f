import type { Request } from 'express';
import { ApiError } from './api-error.ts';

const DEFAULT_PER_PAGE = 20;
const LARGEST_PER_PAGE = 50;

/** The page that `page` and `per_page` of the request select. Throws for invalid values. */
export function pageOf(request: Request, rows: readonly object[]): object {
  const page = wholeNumber(request, 'page', 1);
  const perPage = Math.min(wholeNumber(request, 'per_page', DEFAULT_PER_PAGE), LARGEST_PER_PAGE);
  const end = page * perPage;
  const next = end < rows.length ? page + 1 : null;
  return {
    data: rows.slice(end - perPage, end),
    meta: { page, per_page: perPage, total: rows.length, next_page: next },
  };
}

/** A query parameter as a whole number from 1, or `absent` if missing. Throws for anything else. */
export function wholeNumber(request: Request, name: string, absent: number): number {
  const given = request.query[name];
  if (given === undefined) return absent;
  if (typeof given !== 'string' || !/^[1-9]\d{0,8}$/.test(given)) {
    throw new ApiError(400, 'bad_request', `${name} must be a whole number from 1.`);
  }
  return Number(given);
}
