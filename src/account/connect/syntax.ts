/**
 * The mapping language: a subset of the Apollo Connectors selection mapping, implemented from its public documentation.
 *
 *   selection  = expression that begins with $ | member*
 *   member     = name [ '{' member* '}' ]              the key with that name
 *              | key ':' expression                    under another name
 *              | key ':' '{' member* '}'               an object of members of the same value
 *   expression = chain ( '??' chain )*                 the first that is not null
 *   chain      = head step* [ '{' member* '}' ]        of a list: of each of its items
 *   head       = '$' | '@' | $variable | '$(' literal ')' | key
 *   step       = '.' key | '->' method [ '(' argument, ... ')' ]
 *   argument   = literal | expression that begins with '@'
 *   key        = name | "quoted name"
 *   literal    = "string" | 'string' | number | true | false | null | '[' literal, ... ']' | '@' inside a list
 *
 * '$' is the current value. '@' is the same, or, in a method's argument, the item or value the method is applied to.
 * '#' starts a comment. A missing key is null, and every method on null returns null except isNull. A key of a list is
 * the list of that key of its items.
 */
export type Selection = Members | Coalesce;

interface Members {
  readonly kind: 'members';
  readonly members: readonly Member[];
  /** Offset in the mapping text, for messages. The same in every node below. */
  readonly at: number;
}

export interface Member {
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
  readonly steps: readonly Step[];
  readonly members: readonly Member[] | undefined;
  readonly at: number;
}

/** A chain, and whether it reads the item of a method rather than the upstream's response. */
export type PlacedChain = Chain & { readonly ofItem: boolean };

export const VARIABLES = ['args', 'this', 'batch', 'context', 'config', 'page', 'status'] as const;
export type Variable = (typeof VARIABLES)[number];

export type Literal = string | number | boolean | null | typeof ITEM | readonly Literal[];

/** '@' in a list of literals: the value the method is applied to. */
export const ITEM: unique symbol = Symbol('@');

/** An argument of a method. */
export type Argument =
  | { readonly kind: 'literal'; readonly value: Literal }
  | { readonly kind: 'expression'; readonly value: Coalesce };

export type Head =
  | { readonly kind: 'here' }
  | { readonly kind: 'variable'; readonly name: Variable }
  | { readonly kind: 'literal'; readonly value: Literal }
  | { readonly kind: 'key'; readonly name: string };

export type Step =
  | { readonly kind: 'key'; readonly name: string; readonly at: number }
  | { readonly kind: 'method'; readonly name: string; readonly args: readonly Argument[]; readonly at: number };

/** A syntax error in a mapping text; `at` is its offset. */
export class MappingSyntaxError extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.name = 'MappingSyntaxError';
    this.at = at;
  }
}

/** Every chain of a selection, including nested ones, in text order. */
export function* chainsOf(selection: Selection, ofItem = false): Generator<PlacedChain> {
  if (selection.kind === 'members') {
    for (const member of selection.members) yield* chainsOf(member.value, ofItem);
    return;
  }
  for (const chain of selection.chains) {
    yield { ...chain, ofItem };
    for (const step of chain.steps) {
      if (step.kind !== 'method') continue;
      for (const argument of step.args) if (argument.kind === 'expression') yield* chainsOf(argument.value, true);
    }
    // The value of a variable is data to read, even in places without a response.
    const below = ofItem || chain.head.kind === 'variable';
    for (const member of chain.members ?? []) yield* chainsOf(member.value, below);
  }
}
