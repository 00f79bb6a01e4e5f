import { RE2JS } from 're2js';
import { z } from 'zod';

/** Limit on the instructions of a compiled pattern. Only nested counted repetitions come near it. */
const LARGEST_PROGRAM = 500;

/** Limit on the matches that are read: with some patterns, each is a search of the whole text. */
const MOST_MATCHES = 8;

/**
 * Compiles a pattern that will run on untrusted text. RE2 matches in time linear in the text for every pattern. The
 * built-in engine backtracks: a member whose name appears on the page could make it run for hours.
 *
 * @throws the parser's error, when the pattern is not valid RE2
 */
export function compilePattern(source: string) {
  const compiled = RE2JS.compile(source);
  return {
    matches: (text: string) => compiled.matcher(text).find(),
    /** The different values of the first group in the first MOST_MATCHES matches, in order. */
    captures(text: string): readonly string[] {
      const matcher = compiled.matcher(text);
      const found = new Set<string>();
      for (let matches = 0; matches < MOST_MATCHES && found.size < 2 && matcher.find(); matches += 1) {
        const value = matcher.group(1);
        if (value !== null) found.add(value);
      }
      return [...found];
    },
  };
}

/** Says why a pattern cannot be used to capture one value; undefined when it can. */
export function capturingProblem(source: string): string | undefined {
  const problem = problemOf(source);
  if (problem !== undefined) return problem;
  const groups = RE2JS.compile(source).groupCount();
  return groups === 1
    ? undefined
    : `must have exactly one capturing group (…) but has ${groups}; use (?:…) for the others`;
}

function problemOf(source: string): string | undefined {
  try {
    const size = RE2JS.compile(source).programSize();
    return size <= LARGEST_PROGRAM ? undefined : `is too complex a pattern (${size} steps, at most ${LARGEST_PROGRAM})`;
  } catch (thrown) {
    return `is not a valid RE2 pattern: ${thrown instanceof Error ? thrown.message.replace(/^error parsing regexp: /, '') : ''}`;
  }
}

/** A pattern without a capturing group: it only has to match. */
export const pattern = z.string().superRefine((source, context) => {
  const problem = problemOf(source);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});
