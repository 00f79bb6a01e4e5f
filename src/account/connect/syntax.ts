/**
 * The mapping language: a subset of the Apollo Connectors selection mapping, implemented from its public documentation.
 *
 *   selection  = expression that begins with $ or @ | member*
 *   member     = name [ '{' member* '}' ]              the key with that name
 *              | key ':' expression                    under another name
 *              | key ':' '{' member* '}'               an object of members of the same value
 *   expression = chain ( '??' chain )*                 the first that is not null
 *   chain      = head step* [ '{' member* '}' ]        of a list: of each of its items
 *   head       = '$' | '@' | $variable | '$(' value ')' | key
 *   step       = '.' key | '->' method [ '(' value, ... ')' ]
 *   value      = literal | '[' value, ... ']' | expression that begins with $ or @
 *   key        = name | "quoted name"
 *   literal    = "string" | 'string' | number | true | false | null
 *
 * '$' is the current value: the response, or the object whose fields stand in { }. '@' is the same, except in the argument
 * of a method that goes through a list, where it is the item, and in match, where it is the value. '#' starts a comment. A
 * missing key is null, and every method on null returns null except isNull, and, or. A key of a list is the list of that
 * key of its items.
 */
export type Selection = Members | Coalesce;

interface Members {
  readonly kind: 'members';
  readonly members: readonly SelectionMember[];
  /** Offset in the mapping text, for messages. The same in every node below. */
  readonly at: number;
}

export interface SelectionMember {
  readonly name: string;
  readonly value: Selection;
  readonly at: number;
}

export interface Coalesce {
  readonly kind: 'coalesce';
  readonly chains: readonly Chain[];
  readonly at: number;
}

export interface Chain {
  readonly head: Head;
  readonly steps: readonly ChainStep[];
  readonly members: readonly SelectionMember[] | undefined;
  readonly at: number;
}

/** A chain, and whether it reads the item of a method rather than the upstream's response. */
export type PlacedChain = Chain & { readonly ofItem: boolean };

export const VARIABLES = ['args', 'this', 'batch', 'each', 'context', 'config', 'page', 'status'] as const;
export type Variable = (typeof VARIABLES)[number];

export type Literal = string | number | boolean | null;

/** An argument of a method, an item of a list, or what is in `$( )`. */
export type Value =
  | { readonly kind: 'literal'; readonly value: Literal }
  | { readonly kind: 'list'; readonly items: readonly Value[] }
  | { readonly kind: 'expression'; readonly value: Coalesce };

export type Head =
  | { readonly kind: '$' }
  | { readonly kind: '@' }
  | { readonly kind: 'variable'; readonly name: Variable }
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'key'; readonly name: string };

export type ChainStep =
  | { readonly kind: 'key'; readonly name: string; readonly at: number }
  | { readonly kind: 'method'; readonly name: string; readonly args: readonly Value[]; readonly at: number };

/** The value of an argument that is written out; undefined for any other. */
export function literalOf(argument: Value | undefined): unknown {
  return argument?.kind === 'literal' ? argument.value : undefined;
}

/** A syntax error in a mapping text; `at` is its offset. */
export class MappingSyntaxError extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.name = 'MappingSyntaxError';
    this.at = at;
  }
}

/** Whether '@' and '$' stand for data where there is no response: in a path, a query or a body. */
interface Given {
  readonly here: boolean;
  readonly current: boolean;
}

/**
 * Every chain of a selection, including nested ones, in text order.
 *
 * @param binds - whether '@' in the arguments of a method is what the method is applied to
 */
export function* chainsOf(
  selection: Selection,
  binds: (method: string) => boolean,
  given: Given = { here: false, current: false },
): Generator<PlacedChain> {
  if (selection.kind === 'members') {
    for (const member of selection.members) yield* chainsOf(member.value, binds, given);
    return;
  }
  for (const chain of selection.chains) {
    const { head, steps, members } = chain;
    const ofItem = head.kind === '$' ? given.current : given.here;
    yield { ...chain, ofItem };
    if (head.kind === 'value') yield* chainsOfValue(head.value, binds, given);
    for (const step of steps) {
      if (step.kind !== 'method') continue;
      const inside = binds(step.name) ? { ...given, here: true } : given;
      for (const argument of step.args) yield* chainsOfValue(argument, binds, inside);
    }
    // The value of a variable is data to read, even in places without a response.
    const below = ofItem || head.kind === 'variable';
    for (const member of members ?? []) yield* chainsOf(member.value, binds, { here: below, current: below });
  }
}

function* chainsOfValue(value: Value, binds: (method: string) => boolean, given: Given): Generator<PlacedChain> {
  if (value.kind === 'expression') yield* chainsOf(value.value, binds, given);
  else if (value.kind === 'list') for (const item of value.items) yield* chainsOfValue(item, binds, given);
}

/** The members of an object selection; undefined if it is another expression. */
export function membersOf(selection: Selection): readonly SelectionMember[] | undefined {
  if (selection.kind === 'members') return selection.members;
  return selection.chains.length === 1 ? selection.chains[0]?.members : undefined;
}

/** The property names that an object selection returns. */
export function memberNames(selection: Selection): ReadonlySet<string> {
  return new Set((membersOf(selection) ?? []).map(({ name }) => name));
}

/** Whether a name is for the mapping alone: `$this` and `$batch` have it, and the contract need not. */
export function isInternalName(name: string): boolean {
  return name.startsWith('_');
}
