import type { Request } from 'express';

/** In: a request and a cookie's name. Out: its value as it stands; the first one when there are several. */
export function cookieOf(request: Request, name: string): string | undefined {
  for (const pair of (request.get('cookie') ?? '').split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}
