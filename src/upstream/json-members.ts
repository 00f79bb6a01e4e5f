import { type JsonBounds, parseBoundedJson } from '../http/bounded-json.ts';

/** Of a request body of an app, which is one record or a list of them. */
const BOUNDS: JsonBounds = { depth: 1000, values: 50_000, names: 3000 };

/** One member of a JSON object. */
export interface JsonMember {
  readonly name: string;
  /** Name and value as they are written. */
  readonly text: string;
}

/**
 * Takes a JSON object (RFC 8259) apart without changing anything in it: numbers keep their digits, and what is there
 * twice stays so. Out: its members in order; undefined when the text is not JSON, something
 * else than an object, or more than BOUNDS allow.
 */
export function jsonMembers(text: string): readonly JsonMember[] | undefined {
  try {
    // What follows may rely on it that the text is JSON.
    parseBoundedJson(text, BOUNDS);
  } catch {
    return undefined;
  }
  let at = text.search(/\S/);
  if (text[at] !== '{') return undefined;
  const members: JsonMember[] = [];
  for (;;) {
    const start = nextOf(text, at + 1, '"}');
    if (text[start] === '}') return members;
    const nameEnd = endOfString(text, start);
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

/** In: the index of the opening quote. Out: the index after the closing one. */
function endOfString(text: string, quote: number): number {
  let at = quote + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** In: the index after a name. Out: that of the `,` or `}` after its value. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; ; at += 1) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at) - 1;
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
