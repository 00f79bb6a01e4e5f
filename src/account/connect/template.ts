import { encodedComponent } from '../../http/percent.ts';
import { compileSelection, type Evaluate, type VariableValues } from './evaluate.ts';
import { MappingValueError } from './mapping-value.ts';
import { parseExpression } from './parser.ts';
import { type Coalesce, MappingSyntaxError } from './syntax.ts';

/** Text with expressions in braces, such as `/members/{$context.sub}`. */
export type Template = readonly (string | Hole)[];

interface Hole {
  readonly expression: Coalesce;
  readonly evaluate: Evaluate;
  /** Offset of the expression in the template. */
  readonly at: number;
}

/** RFC 3986 section 3.3 pchar and slashes; a query belongs in queryParams. */
const PATH_CHARACTERS = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*$/;
/** RFC 9110 section 5.5 field-value without obs-text: nothing that could end the line. */
const HEADER_VALUE = /^[\t\x20-\x7E]*$/;
/** Characters that an upstream's router may treat as the end of a segment even when encoded (RFC 3986 section 2.4). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const SEGMENT_BREAKERS = /[/\\\x00-\x1F\x7F]/;

/**
 * Splits a template into text and compiled expressions.
 *
 * @throws {MappingSyntaxError}
 */
export function parseTemplate(text: string): Template {
  const parts: (string | Hole)[] = [];
  let at = 0;
  for (const found of text.matchAll(/\{([^{}]*)\}/g)) {
    const inner = found.index + 1;
    parts.push(literal(text, at, found.index), hole(found[1] ?? '', inner));
    at = found.index + found[0].length;
  }
  return [...parts, literal(text, at, text.length)];
}

function literal(text: string, from: number, to: number): string {
  const part = text.slice(from, to);
  const brace = part.search(/[{}]/);
  if (brace !== -1) throw new MappingSyntaxError('unmatched brace', from + brace);
  return part;
}

function hole(text: string, at: number): Hole {
  try {
    const expression = parseExpression(text);
    return { expression, evaluate: compileSelection(expression), at };
  } catch (thrown) {
    if (thrown instanceof MappingSyntaxError) throw new MappingSyntaxError(thrown.message, at + thrown.at);
    throw thrown;
  }
}

/**
 * Parses a connector's path: starts with '/', only path characters, no '.', '..' or empty segments.
 *
 * @throws {MappingSyntaxError}
 */
export function parsePath(text: string): Template {
  const template = parseTemplate(text);
  if (!text.startsWith('/')) throw new MappingSyntaxError('a path must begin with /', 0);
  if (text.includes('?')) throw new MappingSyntaxError('put query parameters in queryParams', text.indexOf('?'));
  for (const part of template) {
    if (typeof part === 'string' && !PATH_CHARACTERS.test(part))
      throw new MappingSyntaxError(
        `${JSON.stringify(part)} has characters that are not allowed in a path (RFC 3986)`,
        text.indexOf(part),
      );
  }
  const segments = text
    .replace(/\{[^{}]*\}/g, 'x')
    .slice(1)
    .split('/');
  for (const [index, segment] of segments.entries()) {
    const closing = index === segments.length - 1;
    if (/^(\.|%2e){1,2}$/i.test(segment) || (segment === '' && !closing))
      throw new MappingSyntaxError('a path must not have empty, "." or ".." segments', 0);
  }
  return template;
}

/**
 * Fills a path. Every value is percent-encoded completely, so it stays within its segment. Since some routers decode
 * before they split, a value with a slash, a backslash or a control character is refused even so.
 *
 * @throws {MappingValueError} for such a value, a missing one, or one that makes a segment '.' or '..'
 */
export function fillPath(template: Template, variables: VariableValues): string {
  const path = template.map((part) =>
    typeof part === 'string' ? part : encodeSegment(part.evaluate(null, variables)),
  );
  const filled = path.join('');
  if (/\/(?:\.|%2e){0,2}(?=\/)|\/(?:\.|%2e){1,2}$/i.test(filled))
    throw new MappingValueError('a path segment is empty, "." or ".."');
  return filled;
}

function encodeSegment(value: unknown): string {
  const text = scalarText(value);
  if (text === undefined || text === '' || SEGMENT_BREAKERS.test(text))
    throw new MappingValueError('a value cannot be used in a path');
  return encodedComponent(text);
}

/**
 * Fills a query from the result of queryParams: null is omitted, a list repeats its name.
 *
 * @throws {MappingValueError}
 */
export function fillQuery(params: Readonly<Record<string, unknown>>): string {
  const pairs = fillForm(params);
  return pairs === '' ? '' : `?${pairs}`;
}

/**
 * Fills an application/x-www-form-urlencoded form in the same way.
 *
 * @throws {MappingValueError}
 */
export function fillForm(params: Readonly<Record<string, unknown>>): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(params)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === null) continue;
      const text = scalarText(item);
      if (text === undefined) throw new MappingValueError(`${name} cannot be used in a query or a form`);
      pairs.push(`${encodedComponent(name)}=${encodedComponent(text)}`);
    }
  }
  return pairs.join('&');
}

/**
 * Fills a header value.
 *
 * @throws {MappingValueError} for anything that could end the line or is not visible ASCII
 */
export function fillHeader(template: Template, variables: VariableValues): string {
  const parts = template.map((part) => (typeof part === 'string' ? part : scalarText(part.evaluate(null, variables))));
  const value = parts.includes(undefined) ? undefined : parts.join('');
  if (value === undefined || !HEADER_VALUE.test(value))
    throw new MappingValueError('a value cannot be used in a header');
  return value;
}

function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? value : undefined;
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
    ? String(value)
    : undefined;
}
