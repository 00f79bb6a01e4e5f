import { spellings } from './forged-names.ts';
import { type GatePaths, oneExpression } from './gate-paths.ts';

/** What a web server needs to send the gate its own paths, and with `everything` all others. */
export interface SnippetOptions {
  readonly paths: GatePaths;
  /** Whether every other request goes to the gate too, which passes it to the site. */
  readonly everything: boolean;
  /** host:port at which the web server reaches the gate. */
  readonly gate: string;
  /** The public origin. */
  readonly origin: string;
  /** Header fields that identify a member to the backend. Requests that bypass the gate must not carry them. */
  readonly identityFields: readonly string[];
}

/** The first line. */
export function head({ everything }: SnippetOptions): string {
  return everything
    ? '# coursegate: every request goes to it, and it passes on to the site what is not its own.'
    : '# coursegate: its own addresses and the routes it protects. Everything else stays as it is.';
}

/** The paths of requests that go to the gate. */
export function expressionOf({ paths, everything }: SnippetOptions): string {
  return everything ? '^(/.*)$' : oneExpression(paths);
}

/** The lines that keep others from setting the identity fields; none if the site reads none. */
export function guard(
  { identityFields }: SnippetOptions,
  lines: (names: readonly string[]) => readonly string[],
): string {
  if (identityFields.length === 0) return '';
  const why = '# Only coursegate may set these fields, which identify the member.';
  return `\n${why}\n${lines(identityFields).join('\n')}\n`;
}

/** Names in every spelling, for web servers that pass on all of them. */
export const spelled = (names: readonly string[]) => names.flatMap((name) => spellings(name.toLowerCase()));
