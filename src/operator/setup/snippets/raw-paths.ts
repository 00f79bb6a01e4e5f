import { segmentsOf } from '../../../config/route-order.ts';
import type { GatePaths } from './gate-paths.ts';
import { UNUSUAL } from './plugin-paths.ts';
import { escaped, segmentExpression, withFinalSlash } from './segment-expression.ts';

/** Paths that two servers may read differently, whole. The gate judges them. */
export const RESOLVED = `(?is)(?:${UNUSUAL}).*`;

/**
 * An expression for whole paths as they are sent: those of a pattern, and every spelling that a backend may take for
 * one (letter case, escaped characters, a final slash) and that is not `RESOLVED`. The gate refuses the latter.
 */
export function rawExpression(pattern: string): string {
  return `(?i)${withFinalSlash(pattern, { rest: '(?:/.*)?', one: '/[^/]+', fixed: spelled })}`;
}

/** An expression for all paths of the gate, in every such spelling. */
export function gateExpression({ exact, under, patterns }: GatePaths): string {
  const spelledOut = [...exact, ...under.map((path) => `${path}**`)].map((path) =>
    rawExpression(path).slice('(?i)'.length),
  );
  return `(?i)${[...spelledOut, ...patterns.map(inAscii)].join('|')}`;
}

/** For the same pattern, only the spelling that the gate admits, in characters that no gateway takes for others. */
export function canonicalExpression(pattern: string): string {
  return segmentExpression(pattern, {
    rest: `(?:/${PLAIN}*)?`,
    one: `/${PLAIN.replace('/', '')}+`,
    fixed: (segment) => escaped(inAscii(segment)),
  });
}

/** A pattern with `*` for every segment that is not fixed. */
export function wildcards(pattern: string): string {
  return `/${segmentsOf(pattern).join('/')}`;
}

const PLAIN = "[A-Za-z0-9._~%!$&'()+,:@/-]";

function spelled(segment: string): string {
  const decoded = decodeURIComponent(segment);
  return [...decoded].map((one) => (one > '\x7F' ? encodeURIComponent(one) : character(one))).join('');
}

/** An ASCII character, or its escape; for a letter, the escape of either case. */
function character(one: string): string {
  const codes = [...new Set([one.toLowerCase(), one.toUpperCase()])].map((each) => each.charCodeAt(0).toString(16));
  const literal = /[\w-]/.test(one) ? one : `\\x{${one.charCodeAt(0).toString(16)}}`;
  return `(?:${[literal, ...codes.map((code) => `%${code}`)].join('|')})`;
}

/** What is beyond ASCII in an expression, as it is escaped in paths. */
export function inAscii(expression: string): string {
  return expression.replace(/[^\x20-\x7E]+/g, encodeURIComponent);
}
