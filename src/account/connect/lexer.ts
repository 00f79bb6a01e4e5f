import { MappingSyntaxError } from './syntax.ts';

/** A token of a mapping text: its kind, its text (strings without quotes) and its offset. */
interface Token {
  readonly kind: 'name' | 'variable' | 'string' | 'number' | 'mark' | 'end';
  readonly text: string;
  readonly at: number;
}

const SKIPPED = /(?:\s|#[^\n]*)*/y;
const TOKEN = new RegExp(
  [
    '(?<name>[A-Za-z_][A-Za-z0-9_]*)',
    '\\$(?<variable>[A-Za-z_][A-Za-z0-9_]*)',
    '(?<mark>->|\\?\\?|[$@.(){}\\[\\]:,])',
    '(?<number>-?\\d+(?:\\.\\d+)?)(?![A-Za-z_])',
    `"(?<double>(?:[^"\\\\\\n]|\\\\["\\\\])*)"`,
    `'(?<single>(?:[^'\\\\\\n]|\\\\['\\\\])*)'`,
  ].join('|'),
  'y',
);

/**
 * Splits a mapping text into tokens, the last of kind 'end'.
 *
 * @throws {MappingSyntaxError}
 */
function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    SKIPPED.lastIndex = at;
    SKIPPED.test(text);
    at = SKIPPED.lastIndex;
    if (at >= text.length) return [...tokens, { kind: 'end', text: '', at: text.length }];
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (found === null) throw new MappingSyntaxError(`unexpected ${JSON.stringify(text.charAt(at))}`, at);
    tokens.push(tokenOf(found.groups ?? {}, at));
    at = TOKEN.lastIndex;
  }
}

function tokenOf(groups: Record<string, string | undefined>, at: number): Token {
  const { name, variable, mark, number } = groups;
  if (name !== undefined) return { kind: 'name', text: name, at };
  if (variable !== undefined) return { kind: 'variable', text: variable, at };
  if (mark !== undefined) return { kind: 'mark', text: mark, at };
  if (number !== undefined) return { kind: 'number', text: number, at };
  const quoted = groups.double ?? groups.single ?? '';
  return { kind: 'string', text: quoted.replace(/\\(.)/g, '$1'), at };
}

/** The tokens of a mapping text, read one after the other. */
export class Tokens {
  readonly #tokens: readonly Token[];
  #at = 0;

  /** @throws {MappingSyntaxError} */
  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  get current(): Token {
    return this.#tokens[this.#at] as Token;
  }

  next(): void {
    this.#at += 1;
  }

  isMark(text: string): boolean {
    return this.current.kind === 'mark' && this.current.text === text;
  }

  skip(text: string): boolean {
    const found = this.isMark(text);
    if (found) this.next();
    return found;
  }

  take(text: string): void {
    if (!this.skip(text)) this.fail(`"${text}" was expected, not ${this.name()}`);
  }

  end(): void {
    if (this.current.kind !== 'end') this.fail(`unexpected ${this.name()}`);
  }

  /** The current token as named in messages. */
  name(): string {
    return this.current.kind === 'end' ? 'the end' : `"${this.current.text}"`;
  }

  fail(message: string): never {
    throw new MappingSyntaxError(message, this.current.at);
  }
}
