import { approve, reachConsent, tickedScopes } from '../../support/member.ts';

const REDIRECT_URI = 'https://app.example/callback';

/**
 * What an app stores, in the form the SDK's clients need (`OAuthClientProvider`, the same in both generations), and a
 * member who approves its requests.
 */
export function createAppMemory() {
  const kept: { client?: unknown; tokens?: Record<string, unknown>; verifier?: string; discovery?: unknown } = {};
  let asked: URL | undefined;
  const provider = {
    redirectUrl: REDIRECT_URI,
    clientMetadata: { client_name: 'Test', redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.client,
    saveClientInformation: (client: unknown) => void Object.assign(kept, { client }),
    tokens: () => kept.tokens,
    saveTokens: (tokens: object) => void Object.assign(kept, { tokens }),
    saveCodeVerifier: (verifier: string) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier,
    saveDiscoveryState: (discovery: unknown) => void Object.assign(kept, { discovery }),
    discoveryState: () => kept.discovery,
    state: () => 'a-state',
    redirectToAuthorization(url: URL) {
      asked = url;
    },
  };
  return {
    provider,
    kept,
    /** The URL that the app wants to open for its user; undefined if none. */
    asked: () => asked,
    /** The member ticks everything and approves. Returns the authorization response. */
    async approved(): Promise<URLSearchParams> {
      return (await approve(String(asked), REDIRECT_URI)).searchParams;
    },
    /** The same, with the boxes as the page shows them. */
    async approvedAsShown(): Promise<URLSearchParams> {
      const { page } = await reachConsent(String(asked));
      return (await approve(String(asked), REDIRECT_URI, { scopes: tickedScopes(page) })).searchParams;
    },
  };
}
