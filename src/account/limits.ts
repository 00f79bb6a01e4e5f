import { type DocumentNode, type FragmentDefinitionNode, GraphQLError, Kind, type SelectionSetNode } from 'graphql';

/** Tokens a document may have; graphql-js stops reading there. The standard introspection query has 163. */
export const MOST_TOKENS = 1000;
const MOST_DEPTH = 12;
/** Introspection nests by nature (a type of a list of a type), and graphql-js has a rule of its own for it. */
const MOST_INTROSPECTION_DEPTH = 24;
/** Validation compares fields of one name pair by pair; this many of them take it about 2 ms. */
const MOST_FIELDS = 400;
const MOST_ALIASES = 30;
const MOST_ROOT_FIELDS = 10;

/** The size of a selection with all its fragments written out. */
interface Size {
  readonly fields: number;
  readonly aliases: number;
  readonly depth: number;
  readonly introspectionDepth: number;
  /** Fields on the first level. */
  readonly roots: number;
}

const NOTHING: Size = { fields: 0, aliases: 0, depth: 0, introspectionDepth: 0, roots: 0 };

/**
 * What is too much about a document, before the costlier validation looks at it. Each fragment is measured once, so a
 * fan-out of fragments costs no more than its text, and a cycle ends (validation then names it). Also refuses empty
 * selection sets, which graphql-js 17 lets through. Out: the first error, or undefined.
 */
export function checkLimits(document: DocumentNode): GraphQLError | undefined {
  const measure = new Measure(document);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
    const size = measure.of(definition.selectionSet);
    if (measure.empty !== undefined) {
      return new GraphQLError('A selection set is empty.', { nodes: [measure.empty] });
    }
    // A fragment counts where it is spread; alone it cannot tell what is introspection.
    const tooMuch = definition.kind === Kind.OPERATION_DEFINITION ? complaint(size) : undefined;
    if (tooMuch !== undefined) return new GraphQLError(tooMuch, { nodes: [definition] });
  }
  return undefined;
}

function complaint(size: Size): string | undefined {
  if (size.depth > MOST_DEPTH) return `The operation is nested deeper than ${MOST_DEPTH} fields.`;
  if (size.introspectionDepth > MOST_INTROSPECTION_DEPTH) return 'The introspection is nested too deep.';
  if (size.fields > MOST_FIELDS) return `The operation has more than ${MOST_FIELDS} fields.`;
  if (size.aliases > MOST_ALIASES) return `The operation has more than ${MOST_ALIASES} aliases.`;
  if (size.roots > MOST_ROOT_FIELDS) return `The operation has more than ${MOST_ROOT_FIELDS} root fields.`;
  return undefined;
}

class Measure {
  readonly #fragments = new Map<string, FragmentDefinitionNode>();
  readonly #measured = new Map<string, Size>();
  empty: SelectionSetNode | undefined;

  constructor(document: DocumentNode) {
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.#fragments.set(definition.name.value, definition);
    }
  }

  of(set: SelectionSetNode): Size {
    if (set.selections.length === 0) this.empty ??= set;
    let total = NOTHING;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) total = sum(total, this.#fragment(selection.name.value));
      else if (selection.kind === Kind.INLINE_FRAGMENT) total = sum(total, this.of(selection.selectionSet));
      else {
        const inner = selection.selectionSet === undefined ? NOTHING : this.of(selection.selectionSet);
        const depth = Math.max(inner.depth, inner.introspectionDepth) + 1;
        const meta = selection.name.value === '__schema' || selection.name.value === '__type';
        total = sum(total, {
          fields: inner.fields + 1,
          aliases: inner.aliases + (selection.alias === undefined ? 0 : 1),
          depth: meta ? 1 : inner.depth + 1,
          introspectionDepth: meta ? depth : inner.introspectionDepth,
          roots: 1,
        });
      }
    }
    return total;
  }

  #fragment(name: string): Size {
    const known = this.#measured.get(name);
    if (known !== undefined) return known;
    // Set first, so that a cycle finds it and ends.
    this.#measured.set(name, NOTHING);
    const fragment = this.#fragments.get(name);
    const size = fragment === undefined ? NOTHING : this.of(fragment.selectionSet);
    this.#measured.set(name, size);
    return size;
  }
}

function sum(left: Size, right: Size): Size {
  return {
    fields: left.fields + right.fields,
    aliases: left.aliases + right.aliases,
    depth: Math.max(left.depth, right.depth),
    introspectionDepth: Math.max(left.introspectionDepth, right.introspectionDepth),
    roots: left.roots + right.roots,
  };
}
