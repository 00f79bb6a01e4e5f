import { mediaType } from '../http/body.ts';
import type { Incoming } from './incoming.ts';

const METADATA = /\/\.well-known\/(?:oauth-(?:authorization-server|protected-resource)|openid-configuration)(?:\/|$)/;
/** Where clients of older specifications look for OAuth endpoints, if they have read no metadata. */
const ENDPOINTS = /^\/(?:oauth2?\/)?(?:authorize|token|register)$/;

/**
 * Notes a request that an app sent because it guessed an address, for the connection recorder. Sites have pages at some
 * of these, which browsers visit without what an app sends.
 */
export function noteGuess({ request, target, record }: Pick<Incoming, 'request' | 'target' | 'record'>): void {
  const { path, query } = target;
  const fromApp = () =>
    request.method === 'POST'
      ? path.endsWith('/register') === (mediaType(request.headers['content-type']) === 'application/json')
      : query.includes('code_challenge=');
  if (METADATA.test(path) || (ENDPOINTS.test(path) && fromApp())) record.noteStep('guess');
}
