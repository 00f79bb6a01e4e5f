/**
 * The mapping language: a subset of the Apollo Connectors selection mapping, written from its public description.
 *
 *   selection  = expression that begins with $ | member*
 *   member     = name [ '{' member* '}' ]              the key of that name
 *              | name ':' expression                   under another name
 *              | name ':' '{' member* '}'              an object of members of the same value
 *   expression = chain ( '??' chain )*                 the first that is not null
 *   chain      = head step* [ '{' member* '}' ]        of a list: of each of its items
 *   head       = '$' | $args | $context | $batch | $page | '$(' literal ')' | key
 *   step       = '.' key | '->' method [ '(' literal, ... ')' ]
 *   key        = name | "quoted name"
 *   literal    = "string" | 'string' | number | true | false | null
 *
 * A '#' begins a comment. A missing key is null, and every method of null is null. A key of a list is the list of that
 * key of its items.
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

export const VARIABLES = ['args', 'context', 'batch', 'page'] as const;
export type Variable = (typeof VARIABLES)[number];

export type Literal = string | number | boolean | null;

export type Head =
  | { readonly kind: 'here' }
  | { readonly kind: 'variable'; readonly name: Variable }
  | { readonly kind: 'literal'; readonly value: Literal }
  | { readonly kind: 'key'; readonly name: string };

export type Step =
  | { readonly kind: 'key'; readonly name: string; readonly at: number }
  | { readonly kind: 'method'; readonly name: string; readonly args: readonly Literal[]; readonly at: number };

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
export function* chainsOf(selection: Selection): Generator<Chain> {
  if (selection.kind === 'members') {
    for (const member of selection.members) yield* chainsOf(member.value);
    return;
  }
  for (const chain of selection.chains) {
    yield chain;
    for (const member of chain.members ?? []) yield* chainsOf(member.value);
  }
}
