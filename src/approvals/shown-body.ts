import { hash } from 'node:crypto';
import { GatewayError, invalidRequest } from '../errors.ts';
import { exactText, isUtf8Json, mediaType } from '../http/body.ts';
import { boundedJson, RECORD_BOUNDS } from '../http/bounded-json.ts';
import { isObject } from '../http/json-object.ts';
import type { Given, Shown } from './approvals.ts';

/** More than a member reads before they approve. In characters. */
export const LONGEST_SHOWN = 16_000;

/** What is shown of the members of an object. */
export function givenOf(
  values: Readonly<Record<string, unknown>>,
  labels: Readonly<Record<string, string>> = {},
): readonly Given[] {
  return Object.entries(values).map(([name, value]) => ({
    name,
    label: Object.hasOwn(labels, name) ? labels[name] : undefined,
    text: typeof value === 'string' ? value : JSON.stringify(value, undefined, 2),
  }));
}

/**
 * What is shown of a body: JSON, forms and text in words, anything else as type, size and digest.
 * Throws GatewayError `payload_too_large` for more words than a member reads, and `invalid_request` for JSON that two
 * programs could read differently.
 */
export function shownBody(type: string, body: Buffer): Pick<Shown, 'given' | 'content'> {
  if (body.length === 0) return { given: [] };
  const media = mediaType(type);
  const isJson = isUtf8Json(type);
  const isForm = media === 'application/x-www-form-urlencoded';
  const text = isJson || isForm || media.startsWith('text/') ? exactText(body) : undefined;
  if (isJson && text === undefined) throw unclear();
  if (text === undefined)
    return { given: [], content: { type: media, bytes: body.length, sha256: hash('sha256', body, 'hex') } };
  if (text.length > LONGEST_SHOWN) throw tooLong();
  if (isForm) return { given: [...new URLSearchParams(text)].map(([name, value]) => ({ name, text: value })) };
  const value = isJson ? exactJson(text) : text;
  return { given: isObject(value) ? givenOf(value) : givenOf({ '': value }) };
}

/** The error for more words than a member reads. */
function tooLong(): GatewayError {
  return new GatewayError('payload_too_large', {
    message: `The member could not read and approve this much: at most ${LONGEST_SHOWN} characters are accepted here.`,
  });
}

type Reviver = (this: unknown, name: string, value: unknown, context: { readonly source?: string }) => unknown;
/** ECMAScript 2026. Numbers keep their digits. */
const { parse, rawJSON } = JSON as unknown as {
  parse: (text: string, reviver: Reviver) => unknown;
  rawJSON: (text: string) => unknown;
};

function exactJson(text: string): unknown {
  const value = boundedJson(text, RECORD_BOUNDS);
  // Of two members with one name, the member would see one, and the backend might use the other.
  const names = text.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;
  if (value === undefined || names !== namesIn(value)) throw unclear();
  return parse(text, (_, inner, { source }) => (typeof inner === 'number' ? rawJSON(source ?? '') : inner));
}

function namesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  return inner.reduce<number>((sum, one) => sum + namesIn(one), Array.isArray(value) ? 0 : inner.length);
}

function unclear(): GatewayError {
  return invalidRequest(
    'The body must be JSON in UTF-8, without a name twice in one object: the member has to read it.',
  );
}
