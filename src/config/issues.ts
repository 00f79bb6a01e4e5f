import type { z } from 'zod';
import type { UntracedProblem } from './problems.ts';
import { shapeAt } from './shape.ts';
import { didYouMean } from './suggest.ts';
import { type Path, type Tree, valueAt } from './tree.ts';

type Issue = z.core.$ZodIssue;

/** Translates zod's issues with the merged settings into findings in terms of the file, one for each mistake. */
export function readIssues(issues: readonly Issue[], tree: Tree): readonly UntracedProblem[] {
  return issues.flatMap((issue) => {
    const path = issue.path as Path;
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey([...path, key], tree));
    if (issue.code === 'invalid_key') {
      return [{ path, at: 'key' as const, message: issue.issues[0]?.message ?? 'is not a valid name here' }];
    }
    const value = valueAt(tree, path);
    if (value === undefined) return [{ path, at: 'key' as const, message: `is missing${bracketed(choices(issue))}` }];
    return [{ path, at: 'value' as const, message: describe(issue, value) }];
  });
}

function unknownKey(path: Path, tree: Tree): UntracedProblem {
  const key = String(path.at(-1));
  const { keys } = shapeAt(path.slice(0, -1), tree);
  const legal = keys.filter((name) => name !== '$schema');
  const hint = didYouMean(key, legal) || (legal.length <= 8 ? bracketed(legal) : '');
  return { path, at: 'key', message: `unknown key "${key}"${hint}` };
}

function describe(issue: Issue, value: unknown): string {
  const options = choices(issue);
  if (options.length > 0)
    return `must be ${oneOf(options)}${typeof value === 'string' ? didYouMean(value, options) : ''}`;
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.startsWith('Invalid input') ? wrongType(issue.expected, value) : issue.message;
    case 'too_small':
      if (issue.origin === 'string' || issue.origin === 'array') return 'must not be empty';
      return `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${issue.origin === 'string' ? ' characters long' : ''}`;
    default:
      return issue.message;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  object: 'a mapping of keys to values',
  record: 'a mapping of keys to values',
  array: 'a list',
  string: 'text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

function wrongType(expected: string, value: unknown): string {
  const wanted = TYPES[expected] ?? expected;
  if (value === null) return `must be ${wanted}, but is empty`;
  if (Array.isArray(value)) return `must be ${wanted}, not a list`;
  if (typeof value === 'object') return `must be ${wanted}, not a mapping`;
  if (expected === 'string') return `must be ${wanted}: put it in quotes`;
  return typeof value === 'string' ? `must be ${wanted}, not text` : `must be ${wanted}`;
}

function choices(issue: Issue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  if (issue.code === 'invalid_union' && 'options' in issue && Array.isArray(issue.options))
    return issue.options.map(String);
  return [];
}

function bracketed(options: readonly string[]): string {
  return options.length === 0 ? '' : ` (${oneOf(options)})`;
}

function oneOf(options: readonly string[]): string {
  return options.length === 1 ? String(options[0]) : `one of ${options.join(', ')}`;
}
