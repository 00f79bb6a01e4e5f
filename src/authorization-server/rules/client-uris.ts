const LONGEST = 2048;

/**
 * Checks `client_uri`, `logo_uri`, `tos_uri` and `policy_uri`: URLs that may be shown to a member. They are never
 * fetched or embedded. Returns what is wrong with one; undefined if nothing.
 */
export function clientUriProblem(uri: unknown): string | undefined {
  if (typeof uri !== 'string') return 'must be text';
  if (uri.length > LONGEST) return `must have at most ${LONGEST} characters`;
  if (!/^https:\/\/[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/.test(uri)) return 'must be an https URL';
  const url = URL.parse(uri);
  if (url === null) return 'must be an https URL';
  if (url.username !== '' || url.password !== '') return 'must hold no user information';
  return undefined;
}
