import {
  type ASTNode,
  type DocumentNode,
  type FragmentSpreadNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { fragmentsOf } from './read-fields.ts';
import type { AccountLimits } from './settings.ts';

/** Introspection is naturally nested (a type of a list of a type), and graphql-js has its own rule for it. */
const MOST_INTROSPECTION_DEPTH = 24;

/**
 * Validation compares the fields of one place that have the same name pair by pair, together with all fields below
 * them: 130 fields on three levels take 50 ms. Clients that compose their documents from fragments stay far below this
 * limit.
 */
const MOST_COMPARISONS = 1000;
/** Nesting of lists and objects in an argument. */
const MOST_VALUE_DEPTH = 16;

/** A document that exceeds a limit: the error, and the code of the limit. */
export interface Excess {
  readonly error: GraphQLError;
  readonly code: string;
}

/** The size of a selection with all its fragments expanded. */
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
 * Checks the limits of a document before the more expensive validation. Each fragment is measured once, so a fan-out of
 * fragments costs no more than its text. Also refuses missing and recursive fragments, so that every expanded fragment
 * has a field, and empty selection sets, which graphql-js 17 accepts.
 * @returns the first excess; undefined if there is none
 */
export function checkLimits(document: DocumentNode, limits: AccountLimits): Excess | undefined {
  const measure = createMeasure(document);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
    const size = measure.of(definition.selectionSet);
    const found = measure.problem();
    if (found !== undefined) return found;
    // A fragment counts where it is spread. On its own, it does not show whether it is part of an introspection.
    if (definition.kind === Kind.FRAGMENT_DEFINITION) continue;
    const excess = excessOf(size, definition, limits);
    if (excess !== undefined) return excess;
    // Only now that the number of fields with all fragments expanded is known to be small.
    if (measure.comparisons([definition.selectionSet]) > MOST_COMPARISONS) {
      const message = 'The operation asks for the same fields too many times in the same place.';
      return refusal('MAX_FIELDS_EXCEEDED', message, definition);
    }
  }
  return undefined;
}

function refusal(code: string, message: string, node: ASTNode): Excess {
  return { error: new GraphQLError(message, { nodes: [node] }), code };
}

function excessOf(size: Size, operation: OperationDefinitionNode, limits: AccountLimits): Excess | undefined {
  const directives = (operation.directives?.length ?? 0) + size.directives;
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
  return refusal(code, `The operation has more than ${most} ${what}.`, operation);
}

/** Measures the selections of a document. `problem` is what makes the document invalid, or too deep. */
function createMeasure(document: DocumentNode) {
  const fragments = fragmentsOf(document);
  const measured = new Map<string, Size>();
  /** Fragments of which the measuring has begun. */
  const open = new Set<string>();
  let invalid: Excess | undefined;
  let tooDeep: Excess | undefined;
  const of = (set: SelectionSetNode): Size => {
    if (set.selections.length === 0) refuse('A selection set is empty.', set);
    let total = NOTHING;
    for (const selection of set.selections) {
      const directives = selection.directives?.length ?? 0;
      if (directives > 0) total = sum(total, { ...NOTHING, directives });
      if (selection.kind === Kind.FRAGMENT_SPREAD) total = sum(total, ofFragment(selection));
      else if (selection.kind === Kind.INLINE_FRAGMENT) total = sum(total, of(selection.selectionSet));
      else {
        for (const { value } of selection.arguments ?? []) checkValue(value, 0);
        const inner = selection.selectionSet === undefined ? NOTHING : of(selection.selectionSet);
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
  };
  const checkValue = (value: ValueNode, depth: number): void => {
    if (value.kind !== Kind.LIST && value.kind !== Kind.OBJECT) return;
    if (depth === MOST_VALUE_DEPTH) {
      const message = `A value has more than ${MOST_VALUE_DEPTH} levels of lists and objects.`;
      tooDeep ??= refusal('MAX_DEPTH_EXCEEDED', message, value);
    } else if (value.kind === Kind.LIST) for (const item of value.values) checkValue(item, depth + 1);
    else for (const field of value.fields) checkValue(field.value, depth + 1);
  };
  const refuse = (message: string, node: ASTNode): Size => {
    invalid ??= refusal('GRAPHQL_VALIDATION_FAILED', message, node);
    return NOTHING;
  };
  const ofFragment = (spread: FragmentSpreadNode): Size => {
    const name = spread.name.value;
    const known = measured.get(name);
    if (known !== undefined) return known;
    if (open.has(name)) return refuse(`The fragment ${name} contains itself.`, spread);
    const fragment = fragments.get(name);
    if (fragment === undefined) return refuse(`There is no fragment ${name}.`, spread);
    open.add(name);
    const size = of(fragment.selectionSet);
    measured.set(name, size);
    return size;
  };
  /**
   * Counts the pairs of fields that validation has to compare.
   * @param sets - the selection sets of one place, with few fields in total
   */
  const comparisons = (sets: readonly SelectionSetNode[]): number => {
    const places = new Map<string, SelectionSetNode[]>();
    const counts = new Map<string, number>();
    const gather = (set: SelectionSetNode): void => {
      for (const selection of set.selections) {
        if (selection.kind === Kind.FIELD) {
          const name = selection.alias?.value ?? selection.name.value;
          counts.set(name, (counts.get(name) ?? 0) + 1);
          if (selection.selectionSet === undefined) continue;
          places.set(name, [...(places.get(name) ?? []), selection.selectionSet]);
        } else {
          // Fragments of one place are compared with each other, too, regardless of their fields.
          if (selection.kind === Kind.FRAGMENT_SPREAD) counts.set('...', (counts.get('...') ?? 0) + 1);
          const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
          if (inner !== undefined) gather(inner.selectionSet);
        }
      }
    };
    for (const set of sets) gather(set);
    let pairs = 0;
    for (const count of counts.values()) pairs += (count * (count - 1)) / 2;
    for (const inner of places.values()) pairs += comparisons(inner);
    return pairs;
  };
  return { of, comparisons, problem: () => invalid ?? tooDeep };
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
