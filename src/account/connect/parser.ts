import { type Token, tokenize } from './lexer.ts';
import {
  type Argument,
  type Chain,
  type Coalesce,
  type Head,
  ITEM,
  type Literal,
  MappingSyntaxError,
  type Member,
  type Selection,
  type Step,
  VARIABLES,
  type Variable,
} from './syntax.ts';

/** Names that would access JavaScript's prototypes. No mapping can read or write them. */
const REFUSED_NAMES = new Set(['__proto__', 'constructor', 'prototype']);
const KEYWORDS: ReadonlyMap<string, Literal> = new Map<string, Literal>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * Parses a selection (see syntax.ts).
 *
 * @throws {MappingSyntaxError} at the first syntax error
 */
export function parseSelection(text: string): Selection {
  const parser = new Parser(text);
  const selection = parser.startsExpression() ? parser.coalesce() : parser.membersUntil('');
  parser.end();
  return selection;
}

/**
 * Parses one expression, such as one in the braces of a path.
 *
 * @throws {MappingSyntaxError}
 */
export function parseExpression(text: string): Coalesce {
  const parser = new Parser(text);
  const expression = parser.coalesce();
  parser.end();
  return expression;
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  get #token(): Token {
    return this.#tokens[this.#next] as Token;
  }

  startsExpression(): boolean {
    return this.#token.kind === 'variable' || this.#isMark('$') || this.#isMark('@');
  }

  end(): void {
    if (this.#token.kind !== 'end') this.#fail(`unexpected ${this.#name()}`);
  }

  membersUntil(close: '}' | ''): Selection {
    const at = this.#token.at;
    const members: Member[] = [];
    while (this.#token.kind !== 'end' && !this.#isMark('}')) {
      const member = this.#member();
      if (members.some(({ name }) => name === member.name)) {
        throw new MappingSyntaxError(`"${member.name}" is given twice`, member.at);
      }
      members.push(member);
    }
    if (close !== '') this.#take(close);
    if (members.length === 0) throw new MappingSyntaxError('nothing is selected', at);
    return { kind: 'members', members, at };
  }

  coalesce(): Coalesce {
    const at = this.#token.at;
    const chains = [this.#chain()];
    while (this.#skip('??')) chains.push(this.#chain());
    return { kind: 'coalesce', chains, at };
  }

  #member(): Member {
    const { at } = this.#token;
    const { kind } = this.#token;
    if (kind !== 'name' && kind !== 'string') this.#fail(`a name was expected, not ${this.#name()}`);
    const name = this.#key();
    if (kind === 'string' && !this.#isMark(':')) this.#fail(`":" was expected, not ${this.#name()}`);
    if (this.#skip(':')) return { name, at, value: this.#skip('{') ? this.membersUntil('}') : this.coalesce() };
    if (this.#isMark('.') || this.#isMark('->')) this.#fail(`give it a name: "name: ${name}..."`);
    const chain: Chain = { head: { kind: 'key', name }, steps: [], members: this.#innerMembers(), at };
    return { name, at, value: { kind: 'coalesce', chains: [chain], at } };
  }

  #chain(): Chain {
    const at = this.#token.at;
    const head = this.#head();
    const steps: Step[] = [];
    for (;;) {
      const stepAt = this.#token.at;
      if (this.#skip('.')) steps.push({ kind: 'key', name: this.#key(), at: stepAt });
      else if (this.#skip('->')) steps.push(this.#method(stepAt));
      else return { head, steps, members: this.#innerMembers(), at };
    }
  }

  #innerMembers(): readonly Member[] | undefined {
    if (!this.#skip('{')) return undefined;
    const inner = this.membersUntil('}');
    return inner.kind === 'members' ? inner.members : undefined;
  }

  #head(): Head {
    const token = this.#token;
    if (token.kind === 'variable') {
      if (!(VARIABLES as readonly string[]).includes(token.text)) this.#fail(`there is no variable $${token.text}`);
      this.#next += 1;
      return { kind: 'variable', name: token.text as Variable };
    }
    if (this.#skip('@')) return { kind: 'here' };
    if (!this.#skip('$')) return { kind: 'key', name: this.#key() };
    if (!this.#skip('(')) return { kind: 'here' };
    const value = this.#literal();
    this.#take(')');
    return { kind: 'literal', value };
  }

  #method(at: number): Step {
    if (this.#token.kind !== 'name') this.#fail(`the name of a method was expected, not ${this.#name()}`);
    const name = this.#token.text;
    this.#next += 1;
    const args = this.#skip('(') ? this.#listUntil(')', () => this.#argument()) : [];
    return { kind: 'method', name, args, at };
  }

  #argument(): Argument {
    if (this.#isMark('@')) return { kind: 'expression', value: this.coalesce() };
    return { kind: 'literal', value: this.#literal() };
  }

  #listUntil<T>(close: ')' | ']', read: () => T): readonly T[] {
    const items: T[] = [];
    if (!this.#isMark(close)) {
      do items.push(read());
      while (this.#skip(','));
    }
    this.#take(close);
    return items;
  }

  #literal(): Literal {
    if (this.#skip('[')) return this.#listUntil(']', () => (this.#skip('@') ? ITEM : this.#literal()));
    const { kind, text } = this.#token;
    const keyword = kind === 'name' ? KEYWORDS.get(text) : undefined;
    if (kind !== 'string' && kind !== 'number' && keyword === undefined) {
      this.#fail(`a string, a number, true, false, null or a list was expected, not ${this.#name()}`);
    }
    this.#next += 1;
    return kind === 'string' ? text : kind === 'number' ? Number(text) : (keyword ?? null);
  }

  #key(): string {
    const { kind, text } = this.#token;
    if (kind !== 'name' && kind !== 'string') this.#fail(`a key was expected, not ${this.#name()}`);
    if (REFUSED_NAMES.has(text)) this.#fail(`the name ${text} cannot be used`);
    this.#next += 1;
    return text;
  }

  #isMark(text: string): boolean {
    return this.#token.kind === 'mark' && this.#token.text === text;
  }

  #skip(text: string): boolean {
    if (!this.#isMark(text)) return false;
    this.#next += 1;
    return true;
  }

  #take(text: string): void {
    if (!this.#skip(text)) this.#fail(`"${text}" was expected, not ${this.#name()}`);
  }

  #name(): string {
    return this.#token.kind === 'end' ? 'the end' : `"${this.#token.text}"`;
  }

  #fail(message: string): never {
    throw new MappingSyntaxError(message, this.#token.at);
  }
}
