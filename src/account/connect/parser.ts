import { Tokens } from './lexer.ts';
import {
  type Chain,
  type ChainStep,
  type Coalesce,
  type Head,
  type Literal,
  MappingSyntaxError,
  type Selection,
  type SelectionMember,
  VARIABLES,
  type Value,
  type Variable,
} from './syntax.ts';

/** Names that would access JavaScript's prototypes. No mapping can read or write them. */
const REFUSED_NAMES = new Set(['__proto__', 'constructor', 'prototype']);
const KEYWORDS = ['true', 'false', 'null'];

/**
 * Parses a selection (see syntax.ts).
 *
 * @throws {MappingSyntaxError} at the first syntax error
 */
export function parseSelection(text: string): Selection {
  const tokens = new Tokens(text);
  const selection = isExpression(tokens) ? readCoalesce(tokens) : readMembersUntil(tokens, '');
  tokens.end();
  return selection;
}

/**
 * Parses one expression, such as one in the braces of a path.
 *
 * @throws {MappingSyntaxError}
 */
export function parseExpression(text: string): Coalesce {
  const tokens = new Tokens(text);
  const expression = readCoalesce(tokens);
  tokens.end();
  return expression;
}

function readMembersUntil(tokens: Tokens, close: '}' | ''): Selection {
  const at = tokens.current.at;
  const members: SelectionMember[] = [];
  while (tokens.current.kind !== 'end' && !tokens.isMark('}')) {
    const member = readMember(tokens);
    if (members.some(({ name }) => name === member.name))
      throw new MappingSyntaxError(`"${member.name}" is given twice`, member.at);
    members.push(member);
  }
  if (close !== '') tokens.take(close);
  if (members.length === 0) throw new MappingSyntaxError('nothing is selected', at);
  return { kind: 'members', members, at };
}

function readCoalesce(tokens: Tokens): Coalesce {
  const at = tokens.current.at;
  const chains = [readChain(tokens)];
  while (tokens.skip('??')) chains.push(readChain(tokens));
  return { kind: 'coalesce', chains, at };
}

function readMember(tokens: Tokens): SelectionMember {
  const { at } = tokens.current;
  const { kind } = tokens.current;
  if (kind !== 'name' && kind !== 'string') tokens.fail(`a name was expected, not ${tokens.name()}`);
  const name = readKey(tokens);
  if (kind === 'string' && !tokens.isMark(':')) tokens.fail(`":" was expected, not ${tokens.name()}`);
  if (tokens.skip(':'))
    return { name, at, value: tokens.skip('{') ? readMembersUntil(tokens, '}') : readCoalesce(tokens) };
  if (tokens.isMark('.') || tokens.isMark('->')) tokens.fail(`give it a name: "name: ${name}..."`);
  const chain: Chain = { head: { kind: 'key', name }, steps: [], members: readInnerMembers(tokens), at };
  return { name, at, value: { kind: 'coalesce', chains: [chain], at } };
}

function readChain(tokens: Tokens): Chain {
  const at = tokens.current.at;
  const head = readHead(tokens);
  const steps: ChainStep[] = [];
  for (;;) {
    const stepAt = tokens.current.at;
    if (tokens.skip('.')) steps.push({ kind: 'key', name: readKey(tokens), at: stepAt });
    else if (tokens.skip('->')) steps.push(readMethod(tokens, stepAt));
    else return { head, steps, members: readInnerMembers(tokens), at };
  }
}

function readInnerMembers(tokens: Tokens): readonly SelectionMember[] | undefined {
  if (!tokens.skip('{')) return undefined;
  const inner = readMembersUntil(tokens, '}');
  return inner.kind === 'members' ? inner.members : undefined;
}

function readHead(tokens: Tokens): Head {
  const token = tokens.current;
  if (token.kind === 'variable') {
    if (!(VARIABLES as readonly string[]).includes(token.text)) tokens.fail(`there is no variable $${token.text}`);
    tokens.next();
    return { kind: 'variable', name: token.text as Variable };
  }
  if (tokens.skip('@')) return { kind: '@' };
  if (!tokens.skip('$')) return { kind: 'key', name: readKey(tokens) };
  if (!tokens.skip('(')) return { kind: '$' };
  const value = readValue(tokens);
  tokens.take(')');
  return { kind: 'value', value };
}

function readMethod(tokens: Tokens, at: number): ChainStep {
  if (tokens.current.kind !== 'name') tokens.fail(`the name of a method was expected, not ${tokens.name()}`);
  const name = tokens.current.text;
  tokens.next();
  const args = tokens.skip('(') ? readListUntil(tokens, ')') : [];
  return { kind: 'method', name, args, at };
}

/** Whether an expression begins here that needs no name before it. */
function isExpression(tokens: Tokens): boolean {
  return tokens.current.kind === 'variable' || tokens.isMark('$') || tokens.isMark('@');
}

function readValue(tokens: Tokens): Value {
  if (isExpression(tokens)) return { kind: 'expression', value: readCoalesce(tokens) };
  if (tokens.skip('[')) return { kind: 'list', items: readListUntil(tokens, ']') };
  return { kind: 'literal', value: readLiteral(tokens) };
}

function readListUntil(tokens: Tokens, close: ')' | ']'): readonly Value[] {
  const items: Value[] = [];
  if (!tokens.isMark(close)) {
    do items.push(readValue(tokens));
    while (tokens.skip(','));
  }
  tokens.take(close);
  return items;
}

function readLiteral(tokens: Tokens): Literal {
  const { kind, text } = tokens.current;
  const isKeyword = kind === 'name' && KEYWORDS.includes(text);
  if (kind !== 'string' && kind !== 'number' && !isKeyword)
    tokens.fail(`a value was expected, not ${tokens.name()}: begin the key of an object with $. or @.`);
  tokens.next();
  return kind === 'string' ? text : kind === 'number' ? Number(text) : (JSON.parse(text) as Literal);
}

function readKey(tokens: Tokens): string {
  const { kind, text } = tokens.current;
  if (kind !== 'name' && kind !== 'string') tokens.fail(`a key was expected, not ${tokens.name()}`);
  if (REFUSED_NAMES.has(text)) tokens.fail(`the name ${text} cannot be used`);
  tokens.next();
  return text;
}
