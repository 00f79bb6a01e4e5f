import type { Cause } from './cause.ts';
import { says, sent } from './cause.ts';

const APP = 'docs/troubleshooting.md#an-app-does-not-get-to-the-sign-in-page';
const CLIENTS = 'docs/clients.md#assistants-and-mcp-clients';
const DOCUMENT = 'docs/clients.md#without-registering-a-metadata-document';

/** The app could not make itself known. */
export const REGISTRATION: readonly Cause[] = [
  {
    id: 'registration-closed',
    fits: ({ at }) => at.kind === 'registration' && at.status === 404,
    title: 'Registration is closed',
    why: () => 'The app wants to register itself, and this gate accepts no registrations.',
    operator:
      'Open registration with `clients.registration: { enabled: true }`, or use an app that has a client ID metadata document.',
    developer: 'Publish a client ID metadata document: it needs no registration.',
    docs: CLIENTS,
  },
  {
    id: 'registration-token',
    fits: ({ at }) => at.kind === 'registration' && at.error === 'invalid_token',
    title: 'The app has no initial access token',
    why: () =>
      'Registration needs the token in `clients.registration.initialAccessToken`, and the app sent none or another one.',
    operator: 'Give the token to the app’s developer, or remove that key.',
    developer: 'Send the initial access token as `Authorization: Bearer …` with the registration.',
    docs: CLIENTS,
  },
  {
    id: 'registration-limit',
    fits: ({ at }) => at.status === 429,
    title: 'Too many registrations from one address',
    why: ({ at }) =>
      `The limit for registrations was reached: ${at.description}. Some apps register twice for each member, and all members of a hosted assistant come from a few addresses.`,
    operator:
      'If all registrations seem to come from your proxy, name it in `listen.trustedProxies`. Otherwise raise `clients.registration.perAddressPerMinute`.',
    developer: 'Register once and keep the client_id. Wait as long as Retry-After says.',
    docs: APP,
  },
  {
    id: 'auth-method-unsupported',
    fits: (stopped) => stopped.at.kind === 'registration' && says(stopped, 'token_endpoint_auth_method'),
    title: 'The app wants a client authentication that is not offered',
    why: (stopped) =>
      `The app registers with token_endpoint_auth_method ${sent(stopped, 'token_endpoint_auth_method')}. The gate offers none (public clients with PKCE) and client_secret_post.`,
    operator: 'Nothing at the gate. Some apps have a setting for it: choose “none” or “client_secret_post” there.',
    developer: 'Register with `none` or `client_secret_post`, which token_endpoint_auth_methods_supported lists.',
    docs: CLIENTS,
  },
  {
    id: 'redirect-scheme',
    fits: (stopped) => stopped.at.kind === 'registration' && says(stopped, 'scheme'),
    title: 'The scheme of the app’s redirect URI is not accepted',
    why: (stopped) =>
      `The app registers ${sent(stopped, 'redirect_uris')}. A private-use scheme without a dot could belong to any app on the device, so it needs to be allowed.`,
    operator: 'If you trust the app, add its scheme to `clients.redirects.schemes`.',
    developer: 'Use a reversed domain name as the scheme (com.example.app), or http on 127.0.0.1 (RFC 8252 section 7).',
    docs: APP,
  },
  {
    id: 'redirect-uri-refused',
    fits: ({ at }) => at.kind === 'registration' && at.error === 'invalid_redirect_uri',
    title: 'A redirect URI of the app is not accepted',
    why: (stopped) =>
      `The app registers ${sent(stopped, 'redirect_uris') || 'no redirect URI'}: ${stopped.at.description}.`,
    operator: 'If it is about a host that you allow or deny, look at `clients.redirects`.',
    developer:
      'Register https URIs, http on loopback, or a private-use scheme with a dot; each exact, without a fragment.',
    docs: APP,
  },
  {
    id: 'registration-refused',
    fits: ({ at }) => at.kind === 'registration' && at.status >= 400,
    title: 'The registration is not valid',
    why: ({ at }) => `The gate answered: ${at.description ?? at.error ?? at.status}.`,
    developer: 'Change what the description names (RFC 7591 section 2).',
    docs: CLIENTS,
  },
  {
    id: 'registered-only',
    fits: ({ at }) => at.kind === 'registration',
    title: 'The app registered and never sent the member',
    why: () =>
      'The app has its client_id, and no authorization request followed. Either its user did not go on, or the browser could not be opened. Some assistants register twice and use only one of the two.',
    developer:
      'Check whether your client accepts the response of the registration, and whether it could open the browser.',
    docs: CLIENTS,
  },
  {
    id: 'document-unavailable',
    fits: ({ at }) => at.kind === 'client-document' && /^(?:unavailable|gone|busy|overdue)/.test(at.detail ?? ''),
    title: 'The app’s metadata document cannot be fetched',
    why: ({ at }) =>
      `The client_id is the URL of a document, ${at.clientId}, and the gate could not fetch it: it ${reasonOf(at.detail)}. The log says more (“a client metadata document cannot be used”).`,
    operator:
      'If the host cannot be reached or did not answer, the likelier cause is your own network: allow the gate to connect to other hosts on port 443.',
    developer:
      'Unless the school’s own network keeps the gate from it: serve the document at a public https address with status 200 and type application/json, without redirects, logins or bot checks.',
    docs: DOCUMENT,
  },
  {
    id: 'app-disabled',
    fits: ({ at }) => at.outcome === 'disabled' || at.detail?.includes('disabled') === true,
    title: 'You have disabled this app',
    why: () => 'An operator has disabled this app. To the app it seems unknown.',
    operator: 'To let it connect again: `coursegate clients enable ID`, or the app’s page in this console.',
    docs: 'docs/operator.md',
  },
  {
    id: 'document-wrong',
    fits: ({ at }) => at.kind === 'client-document',
    title: 'The app’s metadata document is not valid',
    why: ({ at }) => `The document at ${at.clientId} cannot be used: it ${reasonOf(at.detail)}.`,
    developer:
      'The document must contain its own URL as client_id, character by character, and redirect_uris; token_endpoint_auth_method must be none.',
    docs: DOCUMENT,
  },
];

/** The message of a failed document, which follows its kind. */
function reasonOf(detail = ''): string {
  return detail.slice(detail.indexOf(':') + 1).trim();
}
