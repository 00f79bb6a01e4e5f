import { hash } from 'node:crypto';
import { canonicalJson } from '../../http/canonical-json.ts';
import { isObject, type JsonObject } from '../../http/json-object.ts';

/** What a server says of one of its tools, as far as the gate uses it. */
export interface Definition extends JsonObject {
  readonly name: string;
}

/** The members that are hashed. Icons and `_meta` are left out, because nothing of them reaches a client. */
const HASHED = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'];

/** Undefined for an entry of `tools/list` that is none. */
export function definitionOf(entry: unknown): Definition | undefined {
  if (!isObject(entry) || typeof entry.name !== 'string') return undefined;
  const { name, ...others } = entry;
  return { ...Object.fromEntries(HASHED.map((key) => [key, others[key]])), name };
}

/**
 * The SHA-256 of a definition, in base64url: of its JSON without white space, with the names of every object sorted by
 * UTF-16 code units, as in RFC 8785.
 */
export function hashOf(definition: Definition): string {
  return `sha256-${hash('sha256', canonicalJson(definition), 'base64url')}`;
}
