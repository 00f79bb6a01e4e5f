import { filledFile, type TextFilling } from '../text-template.ts';
import { spellings } from './forged-names.ts';
import { type GatePaths, oneExpression } from './gate-paths.ts';

/** What a web server needs to send the gate its own paths, and with `everything` all others. */
export interface SendingPlan {
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
export function head({ everything }: SendingPlan): string {
  return everything
    ? '# coursegate: every request goes to it, and it passes on to the site what is not its own.'
    : '# coursegate: its own addresses and the routes it protects. Everything else stays as it is.';
}

/** The paths of requests that go to the gate. */
export function expressionOf({ paths, everything }: SendingPlan): string {
  return everything ? '^(/.*)$' : oneExpression(paths);
}

/**
 * The file of a web server, from its template.
 * @param guard - the lines that keep others than the gate from setting these fields
 * @param more - what stands for further names in the template
 */
export function sendingFile(
  template: string,
  plan: SendingPlan,
  guard: (names: readonly string[]) => readonly string[],
  more: TextFilling = {},
): string {
  const { gate, identityFields } = plan;
  const why = ['', '# Only coursegate may set these fields, which identify the member.'];
  return filledFile(`snippets/${template}`, {
    head: head(plan),
    guard: identityFields.length === 0 ? [] : [...why, ...guard(identityFields)],
    expression: expressionOf(plan),
    gate,
    ...more,
  });
}

/** Names in every spelling, for web servers that pass on all of them. */
export const spelled = (names: readonly string[]) => names.flatMap((name) => spellings(name.toLowerCase()));
