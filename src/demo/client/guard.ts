import type { RequestHandler, Response } from 'express';

const POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Headers of every answer. In: the one address besides our own that a form may lead to. */
export function protect(graphiql: string | undefined): RequestHandler {
  const forms = graphiql === undefined ? "'self'" : `'self' ${new URL(graphiql).origin}`;
  return (_request, response, next) => {
    response.set({
      'content-security-policy': `${POLICY}; form-action ${forms}`,
      'cache-control': 'no-store',
      // Not no-referrer: browsers would then send `Origin: null` with our own forms, and the guard below refuse them.
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    });
    next();
  };
}

/**
 * For the page with the Connect form: Chromium holds every redirect after a form to form-action, and this form leads
 * through the gate to the school's own login page, whose address this app cannot know.
 */
export function allowLeaving(response: Response): void {
  response.set('content-security-policy', POLICY);
}

/**
 * Keeps other sites away from a person's session: pages of other names are sent to our own address, and forms of other
 * origins are refused. SameSite alone would not do, since every port of localhost is the same site.
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
