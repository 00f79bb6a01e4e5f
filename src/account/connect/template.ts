import { compileCoalesce, type Evaluate, type Scope } from './evaluate.ts';
import { MappingValueError } from './methods.ts';
import { parseExpression } from './parser.ts';
import { type Coalesce, MappingSyntaxError } from './syntax.ts';

/** A text with expressions in braces, as `/members/{$context.sub}`. */
export type Template = readonly (string | Hole)[];

interface Hole {
  readonly expression: Coalesce;
  readonly evaluate: Evaluate;
  /** Where the expression begins in the template. */
  readonly at: number;
}

/** RFC 3986 §3.3 pchar; a query is written in queryParams. */
const PATH_CHARACTERS = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*$/;
/** RFC 9110 §5.5 field-value, without obs-text: nothing that could end the line. */
const HEADER_VALUE = /^[\t\x20-\x7E]*$/;
/** What a router behind us may take for the end of a segment, even when encoded; RFC 3986 §2.4 decoders differ. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const SEGMENT_BREAKERS = /[/\\\x00-\x1F\x7F]/;

/** Splits a template into texts and compiled expressions. Throws MappingSyntaxError. */
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
  if (brace !== -1) throw new MappingSyntaxError('a brace without its other half', from + brace);
  return part;
}

function hole(text: string, at: number): Hole {
  try {
    const expression = parseExpression(text);
    return { expression, evaluate: compileCoalesce(expression), at };
  } catch (thrown) {
    if (thrown instanceof MappingSyntaxError) throw new MappingSyntaxError(thrown.message, at + thrown.at);
    throw thrown;
  }
}

/** Parses a connector's path: from '/', in path characters, no '.', '..' or '' segments. Throws MappingSyntaxError. */
export function parsePath(text: string): Template {
  const template = parseTemplate(text);
  if (!text.startsWith('/')) throw new MappingSyntaxError('a path begins with /', 0);
  if (text.includes('?')) throw new MappingSyntaxError('a query is written in queryParams', text.indexOf('?'));
  for (const part of template) {
    if (typeof part === 'string' && !PATH_CHARACTERS.test(part)) {
      throw new MappingSyntaxError(`${JSON.stringify(part)} has characters no path has (RFC 3986)`, text.indexOf(part));
    }
  }
  const segments = text
    .replace(/\{[^{}]*\}/g, 'x')
    .slice(1)
    .split('/');
  for (const [index, segment] of segments.entries()) {
    const closing = index === segments.length - 1;
    if (/^(\.|%2e){1,2}$/i.test(segment) || (segment === '' && !closing)) {
      throw new MappingSyntaxError('a path has no empty, "." or ".." segments', 0);
    }
  }
  return template;
}

/**
 * Fills a path. Every value is percent-encoded whole, so it stays inside its segment; a value that is missing, that
 * holds a slash, a backslash or a control character, or that makes a segment '.' or '..', is refused by
 * MappingValueError: some routers decode before they split.
 */
export function fillPath(template: Template, scope: Scope): string {
  const path = template.map((part) => (typeof part === 'string' ? part : encodeSegment(part.evaluate(null, scope))));
  const filled = path.join('');
  if (/\/(?:\.|%2e){0,2}(?=\/)|\/(?:\.|%2e){1,2}$/i.test(filled))
    throw new MappingValueError('a path segment is refused');
  return filled;
}

function encodeSegment(value: unknown): string {
  const text = scalarText(value);
  if (text === undefined || text === '' || SEGMENT_BREAKERS.test(text)) {
    throw new MappingValueError('a value cannot stand in a path');
  }
  return encodeStrictly(text);
}

/** Fills a query from what queryParams gives: null is left out, a list repeats its name. Throws MappingValueError. */
export function fillQuery(params: Readonly<Record<string, unknown>>): string {
  const pairs = fillForm(params);
  return pairs === '' ? '' : `?${pairs}`;
}

/** Fills a form in the same way (application/x-www-form-urlencoded). Throws MappingValueError. */
export function fillForm(params: Readonly<Record<string, unknown>>): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(params)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === null) continue;
      const text = scalarText(item);
      if (text === undefined) throw new MappingValueError(`${name} cannot stand in a query or a form`);
      pairs.push(`${encodeStrictly(name)}=${encodeStrictly(text)}`);
    }
  }
  return pairs.join('&');
}

/** Fills a header value. Throws MappingValueError for anything that could end the line or is no visible ASCII. */
export function fillHeader(template: Template, scope: Scope): string {
  const parts = template.map((part) => (typeof part === 'string' ? part : scalarText(part.evaluate(null, scope))));
  const value = parts.includes(undefined) ? undefined : parts.join('');
  if (value === undefined || !HEADER_VALUE.test(value)) throw new MappingValueError('a value cannot stand in a header');
  return value;
}

function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? value : undefined;
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
    ? String(value)
    : undefined;
}

/** encodeURIComponent leaves !'()* alone, which RFC 3986 §2.2 reserves. */
function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
