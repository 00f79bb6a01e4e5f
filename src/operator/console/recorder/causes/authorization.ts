import type { Cause, Stopped } from './cause.ts';
import { lastOfKind, says, sent } from './cause.ts';

const APP = 'docs/troubleshooting.md#an-app-does-not-get-to-the-sign-in-page';
const ERRORS = 'docs/clients.md#errors';

const atAuthorization = ({ at }: Stopped): boolean => at.kind === 'authorization' || at.kind === 'pushed-request';
const isRedirect = (stopped: Stopped): boolean =>
  atAuthorization(stopped) && stopped.at.error === 'invalid_redirect_uri';
const registered = (stopped: Stopped): readonly string[] =>
  (lastOfKind(stopped, 'registration')?.parameters?.redirect_uris ?? '').split(' ').filter(Boolean);
/** The registered URIs that equal the one that was sent, but for what `normal` removes. */
const nearly = (stopped: Stopped, normal: (uri: string) => string): string | undefined => {
  const uri = sent(stopped, 'redirect_uri');
  return registered(stopped).find((one) => one !== uri && normal(one) === normal(uri));
};
const withoutPort = (uri: string) => uri.replace(/^(http:\/\/[^/:]+|http:\/\/\[::1\]):\d+/, '$1');
const withoutSlash = (uri: string) => withoutPort(uri).replace(/\/$/, '');
const withoutName = (uri: string) =>
  withoutPort(uri).replace(/^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])/, 'http://');

/** The authorization request was refused. */
export const AUTHORIZATION: readonly Cause[] = [
  {
    id: 'unknown-client',
    fits: (stopped) => stopped.at.error === 'invalid_client' && says(stopped, 'client not found'),
    title: 'The app’s client_id is not known here',
    why: ({ at }) =>
      `The client_id ${at.clientId ?? ''} is no longer registered here, or never was: no member connected the app within a day of its registration, the app was deleted, or the store was lost. The app repeats the old client_id.`,
    operator:
      'Disconnect and connect again in the app, so that it registers again. If many apps stop here, look for a lost store.',
    developer: 'After invalid_client, forget the client_id and register again.',
    docs: APP,
  },
  {
    id: 'redirect-missing',
    fits: (stopped) =>
      atAuthorization(stopped) && sent(stopped, 'redirect_uri') === '' && says(stopped, 'redirect_uri'),
    title: 'The app sends no redirect_uri',
    why: () =>
      'The authorization request has no redirect_uri, so the gate does not know where to send the member back.',
    developer: 'Send redirect_uri (and state) with each authorization request.',
    docs: ERRORS,
  },
  {
    id: 'redirect-slash',
    fits: (stopped) => isRedirect(stopped) && nearly(stopped, withoutSlash) !== undefined,
    title: 'The redirect URI differs by a final slash',
    why: (stopped) =>
      `The app sends ${sent(stopped, 'redirect_uri')} and has registered ${nearly(stopped, withoutSlash)}: one of the two has a final slash. Redirect URIs are compared character by character; only the port on loopback may differ.`,
    developer: 'Send the redirect URI exactly as it is registered.',
    docs: APP,
  },
  {
    id: 'redirect-loopback-name',
    fits: (stopped) => isRedirect(stopped) && nearly(stopped, withoutName) !== undefined,
    title: 'The redirect URI names the loopback address differently',
    why: (stopped) =>
      `The app sends ${sent(stopped, 'redirect_uri')} and has registered ${nearly(stopped, withoutName)}. localhost and 127.0.0.1 are different redirect URIs; only the port may differ (RFC 8252 section 7.3).`,
    developer: 'Use the same name in both, 127.0.0.1 if possible, or register both.',
    docs: APP,
  },
  {
    id: 'redirect-mismatch',
    fits: isRedirect,
    title: 'The redirect URI is not registered',
    why: (stopped) => {
      const known = registered(stopped);
      return `The app sends ${sent(stopped, 'redirect_uri')}${known.length > 0 ? ` and has registered ${known.join(', ')}` : ', which it has not registered'}. The member was not sent there.`;
    },
    developer: 'Register the redirect URI that you send, exactly; only the port on loopback may differ.',
    docs: APP,
  },
  {
    id: 'resource-missing',
    fits: (stopped) => stopped.at.error === 'invalid_target' && sent(stopped, 'resource') === '',
    title: 'The app sends no resource parameter',
    why: ({ at, origin }) =>
      `The ${at.kind === 'token' ? 'token request' : 'authorization request'} has no resource parameter, and this gate requires it (RFC 8707): a token must say what it is for. Expected is resource=${origin}.`,
    operator:
      'If many of your apps send none, `resourceIndicator: optional` issues tokens for the whole origin without it.',
    developer: ({ origin }) =>
      `Send resource=${origin} with the authorization request and with the code. It is \`resource\` of the protected resource metadata.`,
    docs: 'docs/profiles.md',
  },
  {
    id: 'resource-path',
    fits: (stopped) =>
      stopped.at.error === 'invalid_target' && sent(stopped, 'resource').startsWith(`${stopped.origin}/`),
    title: 'The app asks for a token for an address that is not a resource',
    why: (stopped) =>
      `The app asks for a token for ${sent(stopped, 'resource')}. That is an address of this gate, but not one that tokens are issued for: ${stopped.at.description}.`,
    operator: 'Check the address that was entered in the app: for assistants it is the one of /mcp or /mcp/member.',
    developer: 'Send `resource` of the protected resource metadata, not the address of a request.',
    docs: 'docs/clients.md#assistants-and-mcp-clients',
  },
  {
    id: 'resource-foreign',
    fits: ({ at }) => at.error === 'invalid_target',
    title: 'The app asks for a token for another server',
    why: (stopped) =>
      `The app asks for a token for ${sent(stopped, 'resource')}, which is not this gate (${stopped.origin}): ${stopped.at.description}.`,
    operator: 'If that is another name of your site, apps must use the one in `origin`.',
    developer: 'Send `resource` of the protected resource metadata of this server.',
    docs: 'docs/troubleshooting.md#an-app-connects-and-then-nothing-comes',
  },
  {
    id: 'scope-unknown',
    fits: ({ at }) => at.error === 'invalid_scope',
    title: 'The app asks for a scope that does not exist here',
    why: (stopped) => `The app asks for “${sent(stopped, 'scope')}”. The gate answered: ${stopped.at.description}.`,
    operator:
      'Remove the scopes from the settings of the app, if they were entered there. It then uses those of the metadata.',
    developer: 'Ask only for scopes in scopes_supported of the metadata, or for those in the challenge.',
    docs: ERRORS,
  },
  {
    id: 'pkce-plain',
    fits: (stopped) => sent(stopped, 'code_challenge_method') === 'plain',
    title: 'The app uses PKCE with plain',
    why: () => 'The app sends code_challenge_method=plain, which protects nothing. The gate accepts S256 only.',
    developer: 'Send code_challenge_method=S256, with the SHA-256 hash of the verifier as the challenge.',
    docs: ERRORS,
  },
  {
    id: 'pkce-missing',
    fits: (stopped) =>
      (atAuthorization(stopped) && says(stopped, 'code_challenge')) || says(stopped, 'code_verifier is missing'),
    title: 'The app does not use PKCE correctly',
    why: ({ at }) => `PKCE is required of every app. The gate answered: ${at.description}.`,
    operator:
      'Nothing at the gate. Some libraries have an option for it: see the client matrix (docs/clients/matrix.md).',
    developer: 'Send code_challenge and code_challenge_method=S256, and code_verifier with the code (RFC 7636).',
    docs: ERRORS,
  },
  {
    id: 'response-type',
    fits: (stopped) =>
      ['unsupported_response_type', 'unsupported_response_mode'].includes(stopped.at.error ?? '') ||
      (atAuthorization(stopped) && (says(stopped, 'response_type') || says(stopped, 'response_mode'))),
    title: 'The app asks for a response type that is not offered',
    why: (stopped) =>
      `The app asks for response_type=${sent(stopped, 'response_type') || '(none)'}${sent(stopped, 'response_mode') === '' ? '' : ` and response_mode=${sent(stopped, 'response_mode')}`}. The gate only offers response_type=code: the implicit flow puts tokens into URLs (RFC 9700 section 2.1.2).`,
    developer: 'Use the authorization code flow with PKCE: response_type=code.',
    docs: ERRORS,
  },
  {
    id: 'request-object',
    fits: ({ at }) => ['request_not_supported', 'request_uri_not_supported'].includes(at.error ?? ''),
    title: 'The app sends a request object',
    why: () =>
      'The app puts its parameters into a request object (`request` or `request_uri`), which the gate does not read.',
    developer: 'Send the parameters one by one, or push them first (PAR, RFC 9126).',
    docs: ERRORS,
  },
  {
    id: 'prompt-none',
    fits: (stopped) => sent(stopped, 'prompt') === 'none' && stopped.at.error?.endsWith('_required') === true,
    title: 'The app asks without letting the member answer',
    why: ({ at }) => `The request has prompt=none, so no page may be shown, and the gate answered ${at.error}.`,
    developer: 'Repeat the request without prompt=none after login_required, interaction_required or consent_required.',
    docs: ERRORS,
  },
];
