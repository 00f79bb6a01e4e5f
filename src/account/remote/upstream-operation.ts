import type { RemoteEntry } from './join.ts';
import { type Plan, variableTypes } from './plan.ts';

/** A mapped field to request, with its plan and variables. */
export interface Wanted {
  readonly entry: RemoteEntry;
  readonly plan: Plan;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** One upstream operation, and where in its response each field is. */
export interface UpstreamOperation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The path in `data` of each wanted field, in order. */
  readonly paths: readonly (readonly (string | number)[])[];
}

/**
 * Prints one operation for fields of one source that can share it. It only contains mapped fields and roots, the
 * member's id where the mapping says so, and generated variables. `member` is the id from the access token.
 */
export function printOperation(wanted: readonly Wanted[], member: string): UpstreamOperation {
  const variables: Record<string, unknown> = {};
  const types: string[] = [];
  const declare = (name: string, type: string, value: unknown): void => {
    types.push(`$${name}: ${type}`);
    variables[name] = value;
  };
  const roots: { readonly key: string; readonly head: string; readonly fields: string[] }[] = [];
  const paths = wanted.map(({ entry, plan, variables: own }) => {
    const { root, mapping, member: taken, requestedIn } = entry;
    for (const [name, type] of variableTypes(plan)) declare(name, type, own[name]);
    const { alias } = plan.field;
    const id = taken?.isList === true ? [member] : member;
    if (root === undefined) {
      if (taken !== undefined) declare(`${alias}_member`, taken.type, id);
      roots.push({ key: '', head: plan.text, fields: [] });
      return [alias];
    }
    const key = requestedIn === 'shared root' ? `${root.name} ${mapping.member ?? ''}` : '';
    let index = key === '' ? -1 : roots.findIndex((each) => each.key === key);
    if (index === -1) {
      index = roots.length;
      const argument = taken === undefined ? '' : `(${taken.name}: $r${index}_member)`;
      if (taken !== undefined) declare(`r${index}_member`, taken.type, id);
      roots.push({ key, head: `r${index}: ${root.name}${argument}`, fields: [] });
    }
    roots[index]?.fields.push(plan.text);
    return [`r${index}`, ...(root.isList ? [0] : []), alias];
  });
  const body = roots.map(({ head, fields }) => (fields.length === 0 ? head : `${head} { ${fields.join(' ')} }`));
  const kind = wanted.some(({ entry }) => entry.writes) ? 'mutation' : 'query';
  const declared = types.length === 0 ? '' : `(${types.join(', ')})`;
  return { query: `${kind} AccountApi${declared} { ${body.join(' ')} }`, variables, paths };
}

/** Fields with the same key can share a call. A symbol is unique, for a field that needs a separate call. */
export function callKey({ mapping, root, requestedIn, writes }: RemoteEntry): string | symbol {
  if (writes || requestedIn === 'own call') return Symbol(mapping.coordinate);
  // When a non-null root fails, the whole response is lost.
  return root?.nonNull === true ? `${mapping.source} ${root.name}` : mapping.source;
}
