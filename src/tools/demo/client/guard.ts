import type { RequestHandler, Response } from 'express';

const POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Sets the security headers of every response. */
export const protect: RequestHandler = (_request, response, next) => {
  response.set({
    'content-security-policy': `${POLICY}; form-action 'self'`,
    'cache-control': 'no-store',
    // Not no-referrer: browsers would then send `Origin: null` with forms, and the guard below would refuse them.
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  });
  next();
};

/**
 * For the page with the Connect form: Chromium applies form-action to every redirect after a form, and this form leads
 * through the gate to the school's own login page, whose URL this app cannot know.
 */
export function allowLeaving(response: Response): void {
  response.set('content-security-policy', POLICY);
}

/**
 * Protects sessions from other sites: requests for other host names are redirected to `url`, and forms of other origins
 * are refused. SameSite alone is not enough, since all ports of localhost are the same site.
 */
export function guard(url: string): RequestHandler {
  const { host } = new URL(url);
  return (request, response, next) => {
    const reading = request.method === 'GET' || request.method === 'HEAD';
    if (request.headers.host !== host && reading) return response.redirect(302, `${url}/`);
    const { origin } = request.headers;
    if (reading || (request.headers.host === host && (origin === undefined || origin === url))) return next();
    response.status(403).type('text').send('This form was not sent from Study Buddy.\n');
  };
}
