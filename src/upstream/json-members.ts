import { boundedJson, endOfString, type JsonBounds } from '../http/bounded-json.ts';

/** Limits for an app's request body, which is one record or a list of records. */
const BOUNDS: JsonBounds = { depth: 1000, values: 50_000, names: 3000 };

/** One member of a JSON object. */
export interface JsonMember {
  readonly name: string;
  /** Name and value exactly as written. */
  readonly text: string;
}

/**
 * Splits a JSON object (RFC 8259) into its members without changing anything: numbers keep their digits and duplicate
 * members are kept. Returns the members in order; undefined if the text is not JSON, is not an object, or exceeds
 * BOUNDS.
 */
export function jsonMembers(text: string): readonly JsonMember[] | undefined {
  // The code below relies on the text being valid JSON.
  if (boundedJson(text, BOUNDS) === undefined) return undefined;
  let at = text.search(/\S/);
  if (text[at] !== '{') return undefined;
  const members: JsonMember[] = [];
  for (;;) {
    const start = nextOf(text, at + 1, '"}');
    if (text[start] === '}') return members;
    const nameEnd = endOfString(text, start) + 1;
    at = endOfValue(text, nameEnd);
    members.push({ name: JSON.parse(text.slice(start, nameEnd)) as string, text: text.slice(start, at).trimEnd() });
    if (text[at] === '}') return members;
  }
}

function nextOf(text: string, from: number, wanted: string): number {
  let at = from;
  while (!wanted.includes(text[at] as string)) at += 1;
  return at;
}

/** Takes the index after a member's name, returns the index of the `,` or `}` after its value. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; ; at += 1) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at);
        break;
      case '{':
      case '[':
        depth += 1;
        break;
      case ',':
        if (depth === 0) return at;
        break;
      case ']':
      case '}':
        if (depth === 0) return at;
        depth -= 1;
        break;
    }
  }
}
