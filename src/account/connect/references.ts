import { type GraphQLInputType, getNullableType, isInputObjectType } from 'graphql';
import { DETAIL_NAMES } from '../../oauth/member-details.ts';
import { checkCall } from './check-call.ts';
import { bindsItem } from './methods.ts';
import { type ChainStep, chainsOf, isInternalName, type Selection, type Variable } from './syntax.ts';

/** The keys of a value, each with the keys of its own value where those are known. */
export type Keys = ReadonlyMap<string, Keys | undefined>;

/** The variables that a text can use, each with its keys, or 'value' when it is a single value. */
export type Available = Readonly<Partial<Record<Variable, Keys | 'value' | undefined>>>;

/** Keys whose values have no known keys. */
export function keys(names: Iterable<string>): Keys {
  return new Map([...names].map((name) => [name, undefined]));
}

/** Keys of $context: the member of the verified token, the only source of a member's id. */
export const CONTEXT_KEYS = keys(['sub', ...DETAIL_NAMES]);

interface Input {
  readonly name: string;
  readonly type: GraphQLInputType;
}

/** Input objects can be recursive, so the depth is limited; mappings do not need more. */
const DEEPEST = 5;

/** The keys of a field's arguments that a mapping can use, as in $args.input.slug, except the arguments in `without`. */
export function inputKeys(inputs: readonly Input[], without: readonly string[] = [], depth = 0): Keys {
  const own = inputs.filter(({ name }) => !without.includes(name));
  return new Map(
    own.map(({ name, type }) => {
      const bare = getNullableType(type);
      const inside = isInputObjectType(bare) && depth < DEEPEST ? Object.values(bare.getFields()) : undefined;
      return [name, inside && inputKeys(inside, [], depth + 1)];
    }),
  );
}

/**
 * Checks the references in a text: methods and their arguments, variables and their keys. `hasData` says whether there is
 * data to read here (a path has none). Returns the keys it uses, by variable.
 */
export function checkReferences(
  selection: Selection,
  available: Available,
  hasData: boolean,
  report: (at: number, message: string) => void,
): ReadonlyMap<Variable, ReadonlySet<string>> {
  const named = new Map<Variable, Set<string>>();
  for (const { head, steps, at, ofItem } of chainsOf(selection, bindsItem)) {
    for (const step of steps) {
      const wrong = step.kind === 'method' ? checkCall(step.name, step.args) : undefined;
      if (wrong !== undefined) report(step.at, wrong);
    }
    if (head.kind === 'variable') {
      const known = available[head.name];
      const used = named.get(head.name) ?? new Set();
      if (known === undefined) report(at, `$${head.name} is not available here`);
      else if (known === 'value') named.set(head.name, used);
      else {
        const key = checkKeys(`$${head.name}`, known, steps, at, report);
        if (key !== undefined) named.set(head.name, used.add(key));
      }
    } else if (!hasData && !ofItem && head.kind !== 'value') {
      const names = Object.entries(available).filter(([, given]) => given !== undefined);
      report(at, `there is no data to read here: begin with ${names.map(([name]) => `$${name}`).join(' or ')}`);
    }
  }
  return named;
}

/** The variables whose objects have names for the mapping alone. */
const WITH_INTERNAL_NAMES = ['$this', '$batch'];

/** Returns the first key, if there is one and it is known. */
function checkKeys(
  variable: string,
  known: Keys,
  steps: readonly ChainStep[],
  at: number,
  report: (at: number, message: string) => void,
): string | undefined {
  let path = variable;
  let inside: Keys | undefined = known;
  let first: string | undefined;
  for (const step of steps) {
    if (inside === undefined || step.kind !== 'key') break;
    const isInternal = inside === known && WITH_INTERNAL_NAMES.includes(variable) && isInternalName(step.name);
    if (!inside.has(step.name) && !isInternal) {
      report(at, `${path} has no ${step.name}, only ${list(inside)}`);
      return first;
    }
    first ??= step.name;
    path += `.${step.name}`;
    inside = inside.get(step.name);
  }
  if (first === undefined) report(at, `add a key of ${variable}: ${list(known)}`);
  return first;
}

function list(names: Keys): string {
  return names.size === 0 ? 'nothing' : [...names.keys()].join(', ');
}
