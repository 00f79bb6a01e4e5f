/**
 * The mapping language: a subset of the Apollo Connectors selection mapping, written from its public description.
 *
 *   selection  = expression that begins with $ | member*
 *   member     = name [ '{' member* '}' ]              the key of that name
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
 * '$' is the value at hand. '@' is the same, or inside a method's argument the item or value the method is applied to.
 * A '#' begins a comment. A missing key is null, and every method of null is null but isNull. A key of a list is the
 * list of that key of its items.
 */
export type Selection = Members | Coalesce;

interface Members {
  readonly kind: 'members';
  readonly members: readonly Member[];
  /** Offset in the mapping text, for messages; so in every node below. */
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

/** A chain, and whether it looks at the item of a method rather than at an upstream's answer. */
export type PlacedChain = Chain & { readonly ofItem: boolean };

export const VARIABLES = ['args', 'this', 'batch', 'context', 'config', 'page', 'status'] as const;
export type Variable = (typeof VARIABLES)[number];

export type Literal = string | number | boolean | null | typeof ITEM | readonly Literal[];

/** '@' inside a list of literals: whatever the method is applied to. */
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

/** Thrown for a text that is not of the language; `at` is the offset of the trouble. */
export class MappingSyntaxError extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.name = 'MappingSyntaxError';
    this.at = at;
  }
}

/** Every chain of a selection, inner ones too, in the order of the text. */
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
    // Below a variable there is data, even where an answer is not.
    const below = ofItem || chain.head.kind === 'variable';
    for (const member of chain.members ?? []) yield* chainsOf(member.value, below);
  }
}
