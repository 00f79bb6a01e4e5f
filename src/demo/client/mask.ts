/**
 * What must not stand in a screenshot: whoever has one of these can act as the member or as the app.
 * `jti` is here because some servers use the token itself as its identifier.
 */
const SECRETS = new Set([
  'access_token',
  'client_secret',
  'code',
  'code_verifier',
  'id_token',
  'jti',
  'refresh_token',
  'registration_access_token',
  'token',
]);

/** The first six characters of a secret; shorter ones vanish. */
function shorten(secret: string): string {
  return `${secret.length > 12 ? secret.slice(0, 6) : ''}…`;
}

/** Whether and how secrets are shown: shortened, or whole when the person asked for it. */
export type Mask = (name: string, value: string) => string;

export const shortened: Mask = (name, value) => (SECRETS.has(name) ? shorten(value) : value);
export const whole: Mask = (_name, value) => value;

/** A header value; of Authorization the scheme stays readable. */
export function maskHeader(name: string, value: string, mask: Mask): string {
  const credentials = /^(\S+) (.+)$/s.exec(value);
  if (name.toLowerCase() !== 'authorization' || credentials === null) return value;
  return `${credentials[1]} ${mask('token', credentials[2] ?? '')}`;
}

/** A URL or form body in lines, one parameter each, decoded: made to be read, not to be sent. */
export function parameterLines(parameters: URLSearchParams, mask: Mask): [string, string][] {
  return [...parameters].map(([name, value]) => [name, mask(name, value)]);
}

/** A JSON body, indented and masked at every depth; undefined when it is no JSON. */
export function maskJson(body: string, mask: Mask): string | undefined {
  try {
    return JSON.stringify(
      JSON.parse(body),
      (name, value: unknown) => (typeof value === 'string' ? mask(name, value) : value),
      2,
    );
  } catch {
    return undefined;
  }
}
