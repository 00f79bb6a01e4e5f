/**
 * Names of values that must not appear in a screenshot, since they allow acting as the member or the app. `jti` is
 * included because some servers use the token itself as its identifier.
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

/** Shortens a secret to six characters, or to none if it is short. */
function shorten(secret: string): string {
  return `${secret.length > 12 ? secret.slice(0, 6) : ''}…`;
}

/** How values are displayed: secrets shortened, or everything in full on request. */
export type Mask = (name: string, value: string) => string;

export const shortened: Mask = (name, value) => (SECRETS.has(name) ? shorten(value) : value);
export const whole: Mask = (_name, value) => value;

/** Masks a header value. The scheme of Authorization stays readable. */
export function maskHeader(name: string, value: string, mask: Mask): string {
  const credentials = /^(\S+) (.+)$/s.exec(value);
  if (name.toLowerCase() !== 'authorization' || credentials === null) return value;
  return `${credentials[1]} ${mask('token', credentials[2] ?? '')}`;
}

/** The decoded parameters of a query or form body, for display. */
export function parameterLines(parameters: URLSearchParams, mask: Mask): [string, string][] {
  return [...parameters].map(([name, value]) => [name, mask(name, value)]);
}

/** Indents a JSON body and masks it at every depth; undefined when it is not JSON. */
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
