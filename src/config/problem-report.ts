import { formatProblem, type Problem } from './problems.ts';

/** What `check` found: problems that prevent a start, and warnings about settings that are most likely unintended. */
export interface CheckReport {
  readonly file: string;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Present when there are no problems. */
  readonly summary?:
    | { readonly profile: string; readonly origin: string; readonly routes: number }
    | { readonly schools: number };
}

export type CheckFormat = 'text' | 'json' | 'github';

/**
 * The result as one JSON object for programs: `ok`, and `problems` with `severity`, `file`, `line` and `column` (from 1;
 * null if there is no file), `path` (the key) and `message`.
 */
export function checkedJson({ file, problems, warnings, summary }: CheckReport): string {
  const entry = (severity: 'error' | 'warning') => (problem: Problem) => ({
    severity,
    file: problem.file,
    line: problem.line === 0 ? null : problem.line,
    column: problem.line === 0 ? null : problem.column,
    path: problem.path,
    message: problem.message,
  });
  const all = [...problems.map(entry('error')), ...warnings.map(entry('warning'))];
  return JSON.stringify({ file, ok: problems.length === 0, ...summary, problems: all }, undefined, 2);
}

/** The result as GitHub workflow commands, one per line, which GitHub shows as annotations on a pull request. */
export function checkedGithub({ problems, warnings }: CheckReport): readonly string[] {
  const command = (kind: 'error' | 'warning') => (problem: Problem) => {
    const { file, line, column, path, message } = problem;
    const place = line === 0 ? [] : [`file=${property(file)}`, `line=${line}`, `col=${column}`];
    const text = `${line === 0 ? `${file}: ` : ''}${path === '' ? '' : `${path}: `}${message}`;
    return `::${kind} ${[...place, 'title=coursegate check'].join(',')}::${data(text)}`;
  };
  return [...problems.map(command('error')), ...warnings.map(command('warning'))];
}

/** The warnings for people, each with its code frame. Problems are printed by ConfigError. */
export function warningLines(warnings: readonly Problem[]): readonly string[] {
  return warnings.map((problem) => formatProblem(problem, 'warning: '));
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
