import { type DocumentNode, type FragmentDefinitionNode, GraphQLError, Kind, type SelectionSetNode } from 'graphql';

/** How much one operation may be, before and while it runs. */
export interface Limits {
  /** Tokens of a document; graphql-js stops reading there. The standard introspection query has 163. */
  readonly tokens: number;
  readonly depth: number;
  /** Validation compares fields of one name pair by pair; 400 of them take it about 2 ms. */
  readonly fields: number;
  readonly aliases: number;
  readonly rootFields: number;
  readonly directives: number;
  /** Objects, as cost.ts counts them. */
  readonly cost: number;
  /** The most a window's `first` may ask for. */
  readonly pageSize: number;
  /** Calls that one operation makes to upstreams. */
  readonly upstreamCalls: number;
}

/** Introspection nests by nature (a type of a list of a type), and graphql-js has a rule of its own for it. */
const MOST_INTROSPECTION_DEPTH = 24;

/** A document that is too much: the error, and the code of the limit. */
export interface Excess {
  readonly error: GraphQLError;
  readonly code: string;
}

/** The size of a selection with all its fragments written out. */
interface Size {
  readonly fields: number;
  readonly aliases: number;
  readonly depth: number;
  readonly introspectionDepth: number;
  readonly directives: number;
  /** Fields on the first level. */
  readonly roots: number;
}

const NOTHING: Size = { fields: 0, aliases: 0, depth: 0, introspectionDepth: 0, directives: 0, roots: 0 };

/**
 * What is too much about a document, before the costlier validation looks at it. Each fragment is measured once, so a
 * fan-out of fragments costs no more than its text, and a cycle ends (validation then names it). Also refuses empty
 * selection sets, which graphql-js 17 lets through. Out: the first excess, or undefined.
 */
export function checkLimits(document: DocumentNode, limits: Limits): Excess | undefined {
  const measure = new Measure(document);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
    const size = measure.of(definition.selectionSet);
    if (measure.empty !== undefined) {
      const error = new GraphQLError('A selection set is empty.', { nodes: [measure.empty] });
      return { error, code: 'GRAPHQL_VALIDATION_FAILED' };
    }
    // A fragment counts where it is spread; alone it cannot tell what is introspection.
    if (definition.kind === Kind.FRAGMENT_DEFINITION) continue;
    const excess = excessOf(size, (definition.directives?.length ?? 0) + size.directives, limits);
    if (excess !== undefined) {
      return { error: new GraphQLError(excess.message, { nodes: [definition] }), code: excess.code };
    }
  }
  return undefined;
}

function excessOf(size: Size, directives: number, limits: Limits): { message: string; code: string } | undefined {
  const checks: readonly (readonly [count: number, most: number, what: string, code: string])[] = [
    [size.depth, limits.depth, 'levels of fields', 'MAX_DEPTH_EXCEEDED'],
    [size.introspectionDepth, MOST_INTROSPECTION_DEPTH, 'levels of introspection', 'MAX_DEPTH_EXCEEDED'],
    [size.fields, limits.fields, 'fields', 'MAX_FIELDS_EXCEEDED'],
    [size.aliases, limits.aliases, 'aliases', 'MAX_ALIASES_EXCEEDED'],
    [directives, limits.directives, 'directives', 'MAX_DIRECTIVES_EXCEEDED'],
    [size.roots, limits.rootFields, 'root fields', 'MAX_ROOT_FIELDS_EXCEEDED'],
  ];
  const broken = checks.find(([count, most]) => count > most);
  if (broken === undefined) return undefined;
  const [, most, what, code] = broken;
  return { message: `The operation has more than ${most} ${what}.`, code };
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
      const directives = selection.directives?.length ?? 0;
      if (directives > 0) total = sum(total, { ...NOTHING, directives });
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
          directives: inner.directives,
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
    directives: left.directives + right.directives,
    roots: left.roots + right.roots,
  };
}
