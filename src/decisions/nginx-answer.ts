import type { Answer } from '../errors.ts';
import { boundedJson, RECORD_BOUNDS } from '../http/bounded-json.ts';
import { type Decided, permission, type Tell } from './decision-response.ts';
import { DECISION_FIELDS } from './protocol.ts';

/** A longer answer goes without its body: by default, nginx takes a head of 4 KiB at most. */
const LONGEST = 3_500;

/**
 * nginx passes on no more of a refusal than that it is one. So each is a 403 that carries the whole answer in a field,
 * which nginx sends back to `DECISION_PATHS.answer` for the client. No state is kept, so any replica can give it.
 */
export const tellNginx: Tell = (decided) =>
  decided.kind === 'admitted'
    ? permission(admitted(decided))
    : { status: 403, headers: { [DECISION_FIELDS.answer]: encoded(decided.answer), 'content-length': 0 }, body: '' };

/**
 * The identity that applies, because a field that is missing is an empty variable to nginx; and those of our own fields
 * whose values it does not know.
 */
function admitted({ identity, own }: Extract<Decided, { kind: 'admitted' }>): string[] {
  const fields: string[] = [];
  for (let at = 0; at + 1 < identity.length; at += 2) {
    if (identity[at + 1] !== '') fields.push(identity[at] as string, identity[at + 1] as string);
  }
  for (let at = 0; at + 1 < own.length; at += 2) {
    const name = own[at] as string;
    if (name.startsWith('ratelimit')) fields.push(name, own[at + 1] as string);
  }
  return fields;
}

function encoded(answer: Answer): string {
  const whole = packed(answer);
  if (whole.length <= LONGEST) return whole;
  const { 'content-length': _, ...headers } = answer.headers;
  return packed({ status: answer.status, headers: { ...headers, 'content-length': '0' }, body: '' });
}

function packed({ status, headers, body }: Answer): string {
  return Buffer.from(JSON.stringify([status, headers, body])).toString('base64url');
}

const ILLEGAL = /[^\t\x20-\x7E\x80-\xFF]/;

/** The answer that `tellNginx` has packed; undefined if `text` is not one. */
export function unpacked(text: string): Answer | undefined {
  const given = boundedJson(Buffer.from(text, 'base64url').toString(), RECORD_BOUNDS);
  const [status, headers, body] = Array.isArray(given) ? given : [];
  if (!Number.isInteger(status) || status < 400 || status > 599 || typeof body !== 'string') return undefined;
  if (typeof headers !== 'object' || headers === null) return undefined;
  const isLegal = ([name, value]: [string, unknown]) =>
    /^[a-z0-9-]+$/.test(name) && typeof value === 'string' && !ILLEGAL.test(value);
  return Object.entries(headers).every(isLegal) ? { status, headers, body } : undefined;
}
