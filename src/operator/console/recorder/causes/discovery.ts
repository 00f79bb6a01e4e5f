import type { Cause } from './cause.ts';
import { sent } from './cause.ts';

const APP = 'docs/troubleshooting.md#an-app-does-not-get-to-the-sign-in-page';

/** The app has not registered or asked for authorization yet. */
export const DISCOVERY: readonly Cause[] = [
  {
    id: 'token-in-query',
    fits: (stopped) => sent(stopped, 'access_token') !== '',
    title: 'The app sends its token in the URL',
    why: () =>
      'The access token is a query parameter of the request. The gate reads tokens only from the Authorization field (RFC 6750 section 2.1), because URLs end up in logs. So the request counts as one without a token.',
    developer: 'Send the token as `Authorization: Bearer …`, and never in the URL.',
    docs: 'docs/troubleshooting.md#an-apps-request-is-refused',
  },
  {
    id: 'guessed-endpoint',
    fits: ({ at }) => at.kind === 'guess' && !at.endpoint.includes('/.well-known/'),
    title: 'The app guesses addresses instead of reading the metadata',
    why: ({ at }) =>
      `The app sent ${at.endpoint}, where there is nothing. Clients of the MCP specification of March 2025 use such default addresses when they find no metadata.`,
    operator: 'Ask for a newer version of the app.',
    developer:
      'Read the endpoints from /.well-known/oauth-authorization-server, which the protected resource metadata names.',
    docs: APP,
  },
  {
    id: 'metadata-address',
    fits: ({ attempt, at }) =>
      (at.kind === 'guess' || at.kind === 'challenge') &&
      attempt.steps.some(({ kind }) => kind === 'guess') &&
      !attempt.steps.some(({ kind }) => kind === 'server-metadata'),
    title: 'The app looks for metadata at the wrong addresses',
    why: ({ attempt }) => {
      const guesses = attempt.steps.filter(({ kind }) => kind === 'guess').map(({ endpoint }) => endpoint);
      return `The app asked for ${[...new Set(guesses)].join(', ')}, and there is no metadata there. It never asked for /.well-known/oauth-authorization-server, the only address of the authorization server metadata.`;
    },
    operator: 'Check that your proxy sends everything below /.well-known/ to the gate: `coursegate doctor URL`.',
    developer:
      'Take the address of the protected resource metadata from `resource_metadata` in the challenge, and the issuer from that document. The issuer has no path, so no path belongs into the address of its metadata (RFC 8414 section 3.1).',
    docs: APP,
  },
  {
    id: 'no-discovery',
    fits: ({ at }) => at.kind === 'challenge',
    title: 'The app does not follow the challenge',
    why: () =>
      'The app sent a request without a token and got a 401. The challenge names the protected resource metadata (`resource_metadata`), but the app never read it and started no sign-in.',
    operator:
      'If no app gets further, check that your proxy passes the WWW-Authenticate field of responses on: `coursegate doctor URL --only challenge`.',
    developer:
      'On a 401, read `resource_metadata` from WWW-Authenticate and begin the authorization (RFC 9728 section 5).',
    docs: APP,
  },
  {
    id: 'metadata-only',
    fits: ({ at }) => ['resource-metadata', 'server-metadata', 'guess'].includes(at.kind),
    title: 'The app read the metadata and went no further',
    why: () =>
      'The app neither registered nor sent a member to the authorization page. It may need something that the metadata does not offer, or it waits for its user. An app that publishes a metadata document continues in the member’s browser: look for its name in this list.',
    developer:
      'Compare what your client needs with /.well-known/oauth-authorization-server: response types, grants, client authentication, scopes.',
    docs: APP,
  },
];
