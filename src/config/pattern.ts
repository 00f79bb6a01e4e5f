import { RE2JS } from 're2js';
import { z } from 'zod';

/** A regular expression of the configuration, in RE2's syntax. */
export interface Pattern {
  matches(text: string): boolean;
  /** Out: what the first group took at the first place that matches; undefined when nothing matches. */
  capture(text: string): string | undefined;
}

/** Instructions of a compiled pattern. Counted repetitions of counted repetitions are what makes more. */
const LARGEST_PROGRAM = 500;

/**
 * Compiles a pattern that will meet text of strangers. RE2's engines take time in proportion to the text whatever the
 * pattern: the ones built in can be made to take hours by a page that somebody writes their own name on.
 * Throws what is wrong with it, in words for the operator.
 */
export function compilePattern(source: string): Pattern {
  const compiled = compile(source);
  return {
    matches: (text) => compiled.matcher(text).find(),
    capture(text) {
      const matcher = compiled.matcher(text);
      return matcher.find() ? (matcher.group(1) ?? undefined) : undefined;
    },
  };
}

/** In: the source of a pattern. Out: why it cannot be used to capture one value; undefined when it can. */
export function capturingProblem(source: string): string | undefined {
  const problem = problemOf(source);
  if (problem !== undefined) return problem;
  const groups = compile(source).groupCount();
  return groups === 1 ? undefined : `must have one group (…) that captures the value, and has ${groups}; (?:…) is none`;
}

function problemOf(source: string): string | undefined {
  try {
    const size = compile(source).programSize();
    return size <= LARGEST_PROGRAM ? undefined : `is too large a pattern (${size} steps, at most ${LARGEST_PROGRAM})`;
  } catch (thrown) {
    return `is no pattern in RE2's syntax: ${thrown instanceof Error ? thrown.message.replace(/^error parsing regexp: /, '') : ''}`;
  }
}

function compile(source: string): RE2JS {
  return RE2JS.compile(source);
}

/** A pattern that only has to match. */
export const pattern = z.string().superRefine((source, context) => {
  const problem = problemOf(source);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});
