/**
 * Names of values that must not appear in a screenshot, since they allow acting as the member or the app. `jti` is
 * included because some servers use the token itself as its identifier.
 */
const SECRETS = new Set(
  'access_token client_secret code code_verifier id_token jti refresh_token registration_access_token token'.split(' '),
);

/** How values are displayed: secrets shortened, or everything in full on request. */
export type Mask = (name: string, value: string) => string;

/** Shortens a secret to six characters, or to none if it is short. */
export const shortened: Mask = (name, value) => {
  if (!SECRETS.has(name)) return value;
  return `${value.length > 12 ? value.slice(0, 6) : ''}…`;
};

export const whole: Mask = (_name, value) => value;

/** Masks a header value. The scheme of Authorization stays readable. */
export function maskHeader(name: string, value: string, mask: Mask): string {
  if (name.toLowerCase() !== 'authorization') return value;
  return value.replace(/(?<=^\S+ ).+$/s, (credentials) => mask('token', credentials));
}

/** Indents a JSON body and masks it at every depth; undefined when it is not JSON. */
export function maskJson(body: string, mask: Mask): string | undefined {
  try {
    const masked = (name: string, value: unknown) => (typeof value === 'string' ? mask(name, value) : value);
    return JSON.stringify(JSON.parse(body), masked, 2);
  } catch {
    return undefined;
  }
}
