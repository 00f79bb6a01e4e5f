/** What an app stores for the MCP SDKs (`OAuthClientProvider`, the same in all of them), in memory. */
import { CALLBACK, open, step } from './report.js';

export function createProvider(name) {
  const kept = { tokens: undefined };
  return {
    kept,
    redirectUrl: CALLBACK,
    clientMetadata: {
      ...{ client_name: name, redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
      // Not set where the matrix says that nothing has to be.
      ...(process.argv.includes('no-refresh') ? { grant_types: ['authorization_code'] } : {}),
    },
    state: () => 'state-of-the-app',
    clientInformation: () => kept.client,
    saveClientInformation(client) {
      // Some save it again together with the issuer.
      if (kept.client === undefined) for (const name of ['discover', 'register']) step(name);
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens(tokens) {
      kept.tokens = tokens;
    },
    codeVerifier: () => kept.verifier,
    saveCodeVerifier(verifier) {
      kept.verifier = verifier;
    },
    redirectToAuthorization: (url) => open(url),
  };
}

/** A tool for the member if there is one, otherwise a public one. */
export function chooseTool(names) {
  return names.includes('get_my_account') ? 'get_my_account' : 'search_courses';
}
