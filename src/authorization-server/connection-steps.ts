import type { StepKind } from '../http/connection-step.ts';
import { ENDPOINTS } from './endpoints.ts';

const STEPS: Readonly<Record<string, StepKind>> = {
  [ENDPOINTS.authorizationServerMetadata]: 'server-metadata',
  [ENDPOINTS.openidConfiguration]: 'server-metadata',
  [ENDPOINTS.registration]: 'registration',
  [ENDPOINTS.pushedAuthorization]: 'pushed-request',
  [ENDPOINTS.authorization]: 'authorization',
  [ENDPOINTS.token]: 'token',
  [ENDPOINTS.revocation]: 'revocation',
};

/** Which step of connecting an app a request to this endpoint is; undefined if it is none. */
export function stepAt(path: string): StepKind | undefined {
  return Object.hasOwn(STEPS, path) ? STEPS[path] : undefined;
}

/** Parameters that explain why a request was refused, and tell nothing about the member. */
const SHOWN = [
  'response_type',
  'response_mode',
  'resource',
  'scope',
  'prompt',
  'grant_type',
  'code_challenge_method',
  'client_assertion_type',
];
/** Parameters of which only the presence is recorded. */
const PRESENT = ['state', 'code_challenge', 'code_verifier', 'client_secret', 'request', 'request_uri', 'access_token'];
const LONGEST = 300;

/** What may be recorded of the parameters of a request. */
export function shownParameters(sent: URLSearchParams): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const name of SHOWN) {
    const values = sent.getAll(name).filter((value) => value !== '');
    if (values.length > 0) shown[name] = values.join(' ').slice(0, LONGEST);
  }
  const redirectUri = sent.get('redirect_uri') ?? '';
  if (redirectUri !== '') shown.redirect_uri = shownRedirectUri(redirectUri);
  for (const name of PRESENT) if ((sent.get(name) ?? '') !== '') shown[name] = 'sent';
  return shown;
}

/** A redirect URI without user information and the values of its query. */
export function shownRedirectUri(uri: string): string {
  const [before = '', query] = uri.split(/[?#]/, 2);
  const plain = before.replace(/^([^/]*\/\/)[^/]*@/, '$1').slice(0, LONGEST);
  return query === undefined ? plain : `${plain}?…`;
}

/** The client_id of a request, cut if it is too long to be one. */
export function shownClientId(sent: URLSearchParams): string | undefined {
  return sent.get('client_id')?.slice(0, LONGEST) || undefined;
}
