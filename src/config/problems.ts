import { formatPath, type Path } from './tree.ts';

/** A mistake in the configuration, where a person can go and mend it. */
export interface Problem {
  /** The file as it was named to us; for a setting from elsewhere, what set it: `environment variable PORT`. */
  readonly file: string;
  /** From 1; 0 when `file` has no lines. */
  readonly line: number;
  readonly column: number;
  /** The key, as `routes[3].upstream`; '' for the file itself. */
  readonly path: string;
  readonly message: string;
  /** The line and a caret under the column, with values of secrets masked. */
  readonly frame?: string | undefined;
}

/** Where something stands. */
export type Place = Pick<Problem, 'file' | 'line' | 'column' | 'frame'>;

/** A mistake found in the merged settings, before it is known which layer it came from. */
export interface Finding {
  readonly path: Path;
  /** Point at the key (it should not be there, or something in it is missing) or at its value. */
  readonly at: 'key' | 'value';
  readonly message: string;
}

/** Every mistake of a configuration at once; `message` is the text to print. Nothing was started. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super([...problems.map(formatProblem), `${problems.length} problem(s); nothing was started`].join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Out: `file:line:column  path: message`, and the code frame below it when there is one. */
export function formatProblem({ file, line, column, path, message, frame }: Problem): string {
  const where = line === 0 ? file : `${file}:${line}:${column}`;
  const text = `${where}  ${path === '' ? '' : `${path}: `}${message}`;
  return frame === undefined ? text : `${text}\n${frame}`;
}

/** Out: the finding as a problem at its place. */
export function problemAt(place: Place, { path, message }: Pick<Finding, 'path' | 'message'>): Problem {
  return { ...place, path: formatPath(path), message };
}
