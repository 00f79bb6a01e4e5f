import { counted } from '../http/amounts.ts';
import { formatPath, type Path } from './tree.ts';

/** A mistake in the configuration, with the place to fix it. */
export interface Problem {
  /** The file, as it was given on the command line; for other settings what set them: `environment variable PORT`. */
  readonly file: string;
  /** From 1; 0 when `file` has no lines. */
  readonly line: number;
  readonly column: number;
  /** The key, such as `routes[3].upstream`; '' for the file itself. */
  readonly path: string;
  readonly message: string;
  /** The line with a caret under the column. Values of secrets are masked. */
  readonly frame?: string | undefined;
}

/** Where a setting is in its source. */
export type Place = Pick<Problem, 'file' | 'line' | 'column' | 'frame'>;

/** A mistake in the merged settings, before it is traced to a layer. */
export interface UntracedProblem {
  readonly path: Path;
  /** Whether to point at the key (it is not allowed, or something in it is missing) or at its value. */
  readonly at: 'key' | 'value';
  readonly message: string;
}

/** Every mistake in a configuration. `message` is the complete text to print. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(
      [
        ...problems.map((problem) => formatProblem(problem)),
        `${counted(problems.length, 'problem')}; nothing was started`,
      ].join('\n'),
    );
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Formats a problem as `file:line:column  path: message`, with the code frame below it if there is one. */
export function formatProblem({ file, line, column, path, message, frame }: Problem, severity = ''): string {
  const where = line === 0 ? file : `${file}:${line}:${column}`;
  const text = `${where}  ${severity}${path === '' ? '' : `${path}: `}${message}`;
  return frame === undefined ? text : `${text}\n${frame}`;
}

/** Combines a finding with its place. */
export function problemAt(place: Place, { path, message }: Pick<UntracedProblem, 'path' | 'message'>): Problem {
  return { ...place, path: formatPath(path), message };
}
