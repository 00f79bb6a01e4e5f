import { withoutOws } from './ows.ts';

/** One Set-Cookie field. */
export interface SetCookie {
  readonly name: string;
  readonly value: string;
  /** With names in lower case. Of those with the same name, the last one counts. */
  readonly attributes: ReadonlyMap<string, string>;
}

/** Reads a Set-Cookie field (RFC 6265 section 5.2). Undefined if it names no cookie. */
export function readSetCookie(field: string): SetCookie | undefined {
  const [pair = '', ...attributes] = field.split(';');
  const [name, value] = nameAndValue(pair);
  if (name === '' || !pair.includes('=')) return undefined;
  return {
    name,
    value,
    attributes: new Map(attributes.map(nameAndValue).map(([attribute, given]) => [attribute.toLowerCase(), given])),
  };
}

function nameAndValue(text: string): readonly [name: string, value: string] {
  const equals = text.indexOf('=');
  if (equals === -1) return [withoutOws(text), ''];
  return [withoutOws(text.slice(0, equals)), withoutOws(text.slice(equals + 1))];
}

/**
 * Whether the field deletes its cookie. Max-Age takes precedence over Expires (RFC 6265 section 5.3).
 * @param now milliseconds since the epoch
 */
export function deletesCookie({ attributes }: SetCookie, now: number): boolean {
  const age = attributes.get('max-age') ?? '';
  return /^-?\d+$/.test(age) ? Number(age) <= 0 : Date.parse(attributes.get('expires') ?? '') <= now;
}
