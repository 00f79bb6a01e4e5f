import type { RequestHandler } from 'express';

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
