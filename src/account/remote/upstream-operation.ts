import type { Boundary } from './join.ts';
import { type Plan, variableTypes } from './plan.ts';

/** A mapped field on its way: how it is asked for, and with which values. */
export interface Wanted {
  readonly boundary: Boundary;
  readonly plan: Plan;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** One upstream operation, and where in its answer each field stands. */
export interface UpstreamOperation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** For each wanted field, in their order: the path to it in `data`. */
  readonly paths: readonly (readonly (string | number)[])[];
}

/**
 * Prints one operation for fields of one source that may share it. Nothing is in it but mapped fields and roots, the
 * member's id where the mapping says so, and variables of our own. In: `member`, the access token's.
 */
export function printOperation(wanted: readonly Wanted[], member: string): UpstreamOperation {
  const variables: Record<string, unknown> = {};
  const types: string[] = [];
  const declare = (name: string, type: string, value: unknown): void => {
    types.push(`$${name}: ${type}`);
    variables[name] = value;
  };
  const roots: { readonly key: string; readonly head: string; readonly fields: string[] }[] = [];
  const paths = wanted.map(({ boundary, plan, variables: own }) => {
    const { root, mapping, member: taken, apart } = boundary;
    for (const [name, type] of variableTypes(plan)) declare(name, type, own[name]);
    const { alias } = plan.field;
    const id = taken?.isList === true ? [member] : member;
    if (root === undefined) {
      if (taken !== undefined) declare(`${alias}_member`, taken.type, id);
      roots.push({ key: '', head: plan.text, fields: [] });
      return [alias];
    }
    const key = apart === 'no' ? `${root.name} ${mapping.member ?? ''}` : '';
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
  const kind = wanted.some(({ boundary }) => boundary.writes) ? 'mutation' : 'query';
  const declared = types.length === 0 ? '' : `(${types.join(', ')})`;
  return { query: `${kind} AccountApi${declared} { ${body.join(' ')} }`, variables, paths };
}

/** What may go in one call: all that shares this key. A symbol is only itself. */
export function callKey({ mapping, root, apart, writes }: Boundary): string | symbol {
  if (writes || apart === 'call') return Symbol(mapping.coordinate);
  // A root that cannot be null takes the whole answer along when it fails.
  return root?.nonNull === true ? `${mapping.source} ${root.name}` : mapping.source;
}
