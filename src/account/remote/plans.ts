import { type GraphQLResolveInfo, type OperationDefinitionNode, responsePathAsArray } from 'graphql';
import type { AccountOperation } from '../connect/operation.ts';
import { type Guards, opensTo } from '../scopes.ts';
import type { RemoteEntry } from './join.ts';
import { type Plan, planField } from './plan.ts';

/** Plans cached per operation. Bounded, so that a client that varies its variables cannot fill memory. */
const MOST_PLANS = 32;

interface OperationPlans {
  readonly plans: Map<string, Plan>;
  /** Number of the next plan: each plan needs a unique name in an upstream operation, which can have several. */
  next: number;
}

export type PlanOf = (entry: RemoteEntry, info: GraphQLResolveInfo, operation: AccountOperation) => Plan;

/**
 * Caches plans for the operations of clients: for each mapped field of an operation, one plan per combination of
 * variables and scopes that changes the request.
 */
export function planCache(guards: Guards): PlanOf {
  const cached = new WeakMap<OperationDefinitionNode, OperationPlans>();
  return (entry, info, { largestWindow, principal }) => {
    const closed = [...guards].filter(([, needed]) => !opensTo(needed, principal.scope)).map(([name]) => name);
    const key = `${responsePathAsArray(info.path).join('.')} ${variablesKey(info, largestWindow)} ${closed.join()}`;
    const planned = cached.get(info.operation) ?? { plans: new Map(), next: 0 };
    cached.set(info.operation, planned);
    const known = planned.plans.get(key);
    if (known !== undefined) return known;
    const alias = `b${planned.next}`;
    planned.next += 1;
    const opens = (coordinate: string) => !closed.includes(coordinate);
    const member = entry.root === undefined ? entry.member?.name : undefined;
    const plan = planField(entry.join, alias, { info, largestWindow, opens }, member);
    if (planned.plans.size >= MOST_PLANS) planned.plans.clear();
    planned.plans.set(key, plan);
    return plan;
  };
}

/** Everything in the variables that affects a plan: conditions, which are set, and whether windows are refused. */
function variablesKey({ operation, variableValues }: GraphQLResolveInfo, largestWindow: number): string {
  return (operation.variableDefinitions ?? [])
    .map(({ variable }) => {
      const { coerced } = variableValues;
      if (!Object.hasOwn(coerced, variable.name.value)) return '-';
      const value = coerced[variable.name.value];
      if (typeof value === 'boolean') return value ? 't' : 'f';
      if (typeof value === 'number') return value < 0 || value > largestWindow ? 'x' : 'v';
      return value === null ? 'n' : 'v';
    })
    .join('');
}
