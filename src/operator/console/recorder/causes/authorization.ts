import { type Cause, lastOfKind, type Stopped, says, sent } from './cause.ts';

const AT_AUTHORIZATION = { kind: ['authorization', 'pushed-request'] } as const;
const REDIRECT = { ...AT_AUTHORIZATION, error: 'invalid_redirect_uri' } as const;
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
  { id: 'client-missing', says: ["missing required parameter 'client_id'", 'client_id is required here'] },
  { id: 'unknown-client', error: 'invalid_client', says: 'client not found' },
  { id: 'redirect-missing', ...AT_AUTHORIZATION, says: 'redirect_uri', lacks: 'redirect_uri' },
  {
    id: 'redirect-slash',
    ...REDIRECT,
    fits: (stopped) => nearly(stopped, withoutSlash) !== undefined,
    values: (stopped) => ({ registered: nearly(stopped, withoutSlash) }),
  },
  {
    id: 'redirect-loopback-name',
    ...REDIRECT,
    fits: (stopped) => nearly(stopped, withoutName) !== undefined,
    values: (stopped) => ({ registered: nearly(stopped, withoutName) }),
  },
  {
    id: 'redirect-mismatch',
    ...REDIRECT,
    values: (stopped) => {
      const known = registered(stopped);
      return {
        registered: known.length > 0 ? ` and has registered ${known.join(', ')}` : ', which it has not registered',
      };
    },
  },
  {
    id: 'resource-missing',
    error: 'invalid_target',
    lacks: 'resource',
    values: ({ at }) => ({ request: at.kind === 'token' ? 'token request' : 'authorization request' }),
  },
  {
    id: 'resource-path',
    error: 'invalid_target',
    fits: (stopped) => sent(stopped, 'resource').startsWith(`${stopped.origin}/`),
  },
  { id: 'resource-foreign', error: 'invalid_target' },
  { id: 'scope-unknown', error: 'invalid_scope' },
  { id: 'pkce-plain', fits: (stopped) => sent(stopped, 'code_challenge_method') === 'plain' },
  {
    id: 'pkce-missing',
    fits: (stopped) =>
      (isAtAuthorization(stopped) && says(stopped, 'code_challenge')) || says(stopped, 'code_verifier is missing'),
  },
  {
    id: 'response-type',
    fits: (stopped) =>
      ['unsupported_response_type', 'unsupported_response_mode'].includes(stopped.at.error ?? '') ||
      (isAtAuthorization(stopped) && (says(stopped, 'response_type') || says(stopped, 'response_mode'))),
    values: (stopped) => ({
      response_type: sent(stopped, 'response_type') || '(none)',
      responseMode: sent(stopped, 'response_mode') === '' ? '' : ` and response_mode=${sent(stopped, 'response_mode')}`,
    }),
  },
  { id: 'request-object', error: ['request_not_supported', 'request_uri_not_supported'] },
  {
    id: 'prompt-none',
    fits: (stopped) => sent(stopped, 'prompt') === 'none' && stopped.at.error?.endsWith('_required') === true,
  },
];

function isAtAuthorization({ at }: Stopped): boolean {
  return at.kind === 'authorization' || at.kind === 'pushed-request';
}
