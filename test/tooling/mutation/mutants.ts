import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { Instrumenter } from '@stryker-mutator/instrumenter';

/** One change to one place of a file. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly operator: string;
  /** Offsets of the text that is replaced. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

type Made = Awaited<ReturnType<Instrumenter['instrument']>>['mutants'][number];

/** Every mutant that StrykerJS makes of these files, without those that `isText` leaves out. */
export async function mutantsOf(root: string, files: readonly string[]): Promise<readonly Mutant[]> {
  const log = () => undefined;
  const silent = { isDebugEnabled: () => false, trace: log, debug: log, info: log, warn: log, error: log, fatal: log };
  const instrumenter = new Instrumenter(silent as unknown as ConstructorParameters<typeof Instrumenter>[0]);
  const all: Mutant[] = [];
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    const { mutants } = await instrumenter.instrument([{ name: file, content: text, mutate: true }], {
      excludedMutations: [],
      ignorers: [],
      plugins: null,
    });
    all.push(...mutants.flatMap((made) => mutantOf(file, text, made)));
  }
  return all;
}

/** Operators whose replacement needs parentheses, because of the precedence of the operators around it. */
const WRAPPED = /^(Arithmetic|Logical|Equality|Assignment|Unary)Operator$|^(MethodExpression|OptionalChaining)$/;

function mutantOf(file: string, text: string, made: Made): readonly Mutant[] {
  const { location, mutatorName: operator, replacement = '' } = made;
  const [start, end] = [offsetOf(text, location.start), offsetOf(text, location.end)];
  if (isText(text, start, end, operator)) return [];
  const wrapped = WRAPPED.test(operator) ? `(${replacement})` : replacement;
  return [{ file, line: location.start.line + 1, operator, start, end, replacement: wrapped }];
}

/** Lines and columns of StrykerJS begin with 0. */
function offsetOf(text: string, { line, column }: Made['location']['start']): number {
  let start = 0;
  for (let at = 0; at < line; at += 1) start = text.indexOf('\n', start) + 1;
  return start + column;
}

const LOGGED = /\blog\??\.(trace|debug|info|warn|error|fatal)\(/;
const DESCRIBED =
  /\b(description|title|summary|help|message|advice)\b\s*[:=]|\.(meta|describe|summary|helpOption|addHelpText)\(/;
const PROSE = /[a-z].*\s|\s.*[a-z]/i;

/**
 * Text for people: strings with a word and a space, and strings on lines that log or describe something. Only these
 * mutants are excluded. No mutant is excluded because it seems equivalent.
 */
function isText(text: string, start: number, end: number, operator: string): boolean {
  const line = text.slice(text.lastIndexOf('\n', start) + 1, start);
  if (LOGGED.test(line)) return true;
  return operator === 'StringLiteral' && (PROSE.test(text.slice(start + 1, end - 1)) || DESCRIBED.test(line));
}

/** The text with the mutant applied; undefined if it does not parse. */
export function applied(text: string, { start, end, replacement }: Mutant): string | undefined {
  const mutated = text.slice(0, start) + replacement + text.slice(end);
  try {
    stripTypeScriptTypes(mutated);
    return mutated;
  } catch {
    return undefined;
  }
}

/**
 * Chooses lines first, then one mutant of each, so that lines with many mutants do not count more. The choice depends on
 * the text of a line and not on its place: after a change, the lines that it left alone stay in the sample.
 */
export function sampleOf(mutants: readonly Mutant[], textOf: (mutant: Mutant) => string, seed: number) {
  const hashOf = (...parts: readonly (string | number)[]) =>
    createHash('sha256')
      .update(JSON.stringify([seed, ...parts]))
      .digest('hex');
  const lines = Map.groupBy(mutants, ({ file, line }) => `${file}:${line}`);
  const seen = new Map<string, number>();
  const drawn = [...lines.values()].flatMap((of) => {
    const keyed = of.map((mutant) => ({ mutant, key: hashOf(mutant.file, textOf(mutant), changeOf(mutant)) }));
    const [chosen] = keyed.toSorted(byKey);
    if (chosen === undefined) return [];
    const { mutant } = chosen;
    // Lines of a file with the same text have different keys.
    const same = JSON.stringify([mutant.file, textOf(mutant)]);
    const before = seen.get(same) ?? 0;
    seen.set(same, before + 1);
    return [{ mutant, key: hashOf(mutant.file, textOf(mutant), before === 0 ? '' : before) }];
  });
  return drawn.toSorted(byKey).map(({ mutant }) => mutant);
}

const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
const changeOf = ({ operator, replacement }: Mutant) => `${operator} ${replacement}`;
