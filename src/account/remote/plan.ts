import { type FieldNode, GraphQLError, type GraphQLResolveInfo, getArgumentValues } from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields.js';
import type { ArgumentJoin, FieldJoin, ObjectJoin, TypeJoin } from './join.ts';
import { isOutsideWindow, windowed } from './windowed.ts';

/** A field as requested upstream, under a generated alias: no name chosen by a client reaches an upstream. */
export interface FieldPlan {
  readonly alias: string;
  /** The client's response key for it; undefined if the client did not request it. */
  readonly key: string | undefined;
  readonly nodes: readonly FieldNode[];
  readonly join: FieldJoin;
  readonly inner: SelectionPlan | undefined;
}

/** The fields requested for each object type possible in a place, keyed by the upstream's name for the type. */
export type SelectionPlan =
  | { readonly abstract: false; readonly object: ObjectPlan }
  | { readonly abstract: true; readonly objects: ReadonlyMap<string, ObjectPlan> };

interface ObjectPlan {
  /** Name in the contract. */
  readonly typeName: string;
  readonly fields: readonly FieldPlan[];
}

/** The source of the values of some of the operation's variables. */
interface Filling {
  readonly join: FieldJoin;
  readonly node: FieldNode;
  readonly slots: readonly { readonly variable: string; readonly argument: ArgumentJoin }[];
}

/** One mapped field of a client's operation, as GraphQL text. */
export interface Plan {
  readonly field: FieldPlan;
  /** Its text in the upstream operation. */
  readonly text: string;
  readonly fillings: readonly Filling[];
}

/** The input of a plan. */
export interface PlanContext {
  readonly info: GraphQLResolveInfo;
  /** Largest number of items in a window. */
  readonly largestWindow: number;
  /** Whether the token may read a field, by coordinate. Other fields are not requested. */
  readonly opens: (coordinate: string) => boolean;
}

/** Plans one mapped field. `member` is the argument that takes the member's id. */
export function planField(join: FieldJoin, alias: string, context: PlanContext, member: string | undefined): Plan {
  const planner = new Planner(alias, context);
  const { fieldNodes, path } = context.info;
  const field = planner.field(join, alias, String(path.key), fieldNodes, member);
  return { field: field.plan, text: field.text, fillings: planner.fillings };
}

/**
 * The values of a plan's variables for this request, in the upstream's form.
 *
 * @throws {AccountError}
 */
export function fillVariables(
  { fillings }: Plan,
  { info, largestWindow }: Pick<PlanContext, 'info' | 'largestWindow'>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { join, node, slots } of fillings) {
    const given = argumentsOf(join, node, info, largestWindow);
    for (const { variable, argument } of slots) values[variable] = argument.write(given[argument.argument]);
  }
  return values;
}

/** The variables of a plan with their upstream types. */
export function variableTypes({ fillings }: Plan): readonly (readonly [name: string, type: string])[] {
  return fillings.flatMap(({ slots }) => slots.map(({ variable, argument }) => [variable, argument.type] as const));
}

function argumentsOf(join: FieldJoin, node: FieldNode, info: GraphQLResolveInfo, largestWindow: number) {
  return windowed(join.field, getArgumentValues(join.field, node, info.variableValues), largestWindow);
}

interface Planned {
  readonly plan: FieldPlan;
  readonly text: string;
}

class Planner {
  readonly fillings: Filling[] = [];
  readonly #prefix: string;
  readonly #context: PlanContext;
  readonly #fragments: Parameters<typeof collectSubfields>[1];
  #variables = 0;
  #aliases = 0;

  constructor(prefix: string, context: PlanContext) {
    this.#prefix = prefix;
    this.#context = context;
    const fragments = Object.entries(context.info.fragments);
    this.#fragments = Object.fromEntries(fragments.map(([name, definition]) => [name, { definition }]));
  }

  field(
    join: FieldJoin,
    alias: string,
    key: string | undefined,
    nodes: readonly FieldNode[],
    member?: string,
  ): Planned {
    const [node] = nodes;
    const slots = node === undefined ? [] : this.#slots(join, node);
    const texts = slots.map(({ variable, argument }) => `${argument.name}: $${variable}`);
    if (member !== undefined) texts.push(`${member}: $${alias}_member`);
    const head = `${alias}: ${join.name}${texts.length === 0 ? '' : `(${texts.join(', ')})`}`;
    if (join.inner === undefined) return { plan: { alias, key, nodes, join, inner: undefined }, text: head };
    const { selection, text } = this.#selection(join.inner, nodes);
    return { plan: { alias, key, nodes, join, inner: selection }, text: `${head} { ${text} }` };
  }

  #slots(join: FieldJoin, node: FieldNode): Filling['slots'] {
    const given = argumentsOf(join, node, this.#context.info, this.#context.largestWindow);
    const present = join.arguments.filter(({ argument }) => given[argument] !== undefined);
    const slots = present.map((argument) => {
      const variable = `${this.#prefix}_${this.#variables}`;
      this.#variables += 1;
      return { variable, argument };
    });
    if (slots.length > 0) this.fillings.push({ join, node, slots });
    return slots;
  }

  #selection(join: TypeJoin, parents: readonly FieldNode[]): { selection: SelectionPlan; text: string } {
    const objects = new Map<string, ObjectPlan>();
    const texts = ['__typename'];
    for (const [name, object] of join.objects) {
      const { plan, text } = this.#object(object, parents);
      if (!join.abstract) return { selection: { abstract: false, object: plan }, text: text || '__typename' };
      objects.set(name, plan);
      if (text !== '') texts.push(`... on ${name} { ${text} }`);
    }
    return { selection: { abstract: true, objects }, text: texts.join(' ') };
  }

  /** `parents` are the nodes of the field that returns the object. */
  #object(join: ObjectJoin, parents: readonly FieldNode[]): { plan: ObjectPlan; text: string } {
    const planned: Planned[] = [];
    const needed = new Set<FieldJoin>();
    const { schema, variableValues } = this.#context.info;
    const details = parents.map((node) => ({ node }));
    const collected = collectSubfields(schema, this.#fragments, variableValues, join.type, details, true);
    for (const [key, found] of collected.groupedFieldSet) {
      const nodes = found.map(({ node }) => node);
      const [node] = nodes;
      const name = node?.name.value ?? '';
      const field = join.fields.get(name);
      // Fields of another service need some fields of this one. They get separate aliases, whatever the client requested.
      if (field === undefined) for (const need of join.needs.get(name) ?? []) needed.add(need);
      else if (node !== undefined && this.#isRequested(field, node)) {
        planned.push(this.field(field, this.#alias(), key, nodes));
      }
    }
    for (const need of needed) planned.push(this.field(need, this.#alias(), undefined, []));
    const plan = { typeName: join.type.name, fields: planned.map((each) => each.plan) };
    return { plan, text: planned.map(({ text }) => text).join(' ') };
  }

  /** Whether to request a field. Forbidden fields and invalid windows are left to graphql-js, which fails at their path. */
  #isRequested(field: FieldJoin, node: FieldNode): boolean {
    const { info, largestWindow, opens } = this.#context;
    if (!opens(field.coordinate)) return false;
    try {
      return !isOutsideWindow(argumentsOf(field, node, info, largestWindow), largestWindow);
    } catch (thrown) {
      if (thrown instanceof GraphQLError) return false;
      throw thrown;
    }
  }

  #alias(): string {
    this.#aliases += 1;
    return `f${this.#aliases}`;
  }
}
