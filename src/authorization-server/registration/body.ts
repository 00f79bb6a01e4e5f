import { GatewayError } from '../../errors.ts';
import { isObject, type JsonObject } from '../../http/json-object.ts';

/** Client metadata is flat except for its lists; no supported member is nested deeper than this. */
const DEEPEST = 8;

/**
 * Parses the JSON object of a registration. Refuses what two parsers might read differently: duplicate members, bytes
 * that are not UTF-8, `__proto__`, unlimited nesting. Throws GatewayError `invalid_request`.
 */
export function parseClientMetadata(bytes: Buffer): JsonObject {
  const text = decode(bytes);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (thrown) {
    throw unusable('the body is not JSON', thrown);
  }
  if (!isObject(parsed)) throw unusable('the body must be a JSON object of client metadata');
  const problem = structureProblem(text);
  if (problem !== undefined) throw unusable(problem);
  return parsed;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (thrown) {
    throw unusable('the body is not UTF-8', thrown);
  }
}

/** @param text - a valid JSON object */
function structureProblem(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"[\t\n\r ]*:?|[[\]{}]/g)) {
    if (token === '{' || token === '[') {
      if (open.push(new Set()) > DEEPEST) return 'the body is nested too deeply';
    } else if (token === '}' || token === ']') {
      open.pop();
    } else if (token.endsWith(':')) {
      const name = JSON.parse(token.slice(0, -1)) as string;
      const names = open.at(-1);
      if (names?.has(name)) return 'the body has a member twice';
      if (name === '__proto__') return 'the body has a member that no client metadata has';
      names?.add(name);
    }
  }
  return undefined;
}

function unusable(message: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', cause === undefined ? { message } : { message, cause });
}
