import { findMethod, MappingValueError } from './methods.ts';
import type { Chain, Coalesce, Member, Selection, Step, Variable } from './syntax.ts';

/** What the variables of a mapping stand for. A connector is given those its place allows (see references.ts). */
export type Scope = Readonly<Partial<Record<Variable, unknown>>>;

/** A compiled selection. In: an upstream's value, the variables. Out: the contract's value, null for what is missing. */
export type Evaluate = (value: unknown, scope: Scope) => unknown;

/**
 * Compiles a checked selection. When a value is not of the kind a method needs, what it gives throws MappingValueError;
 * inside an object the error is the member's value instead.
 */
export function compileSelection(selection: Selection): Evaluate {
  return selection.kind === 'members' ? compileMembers(selection.members) : compileCoalesce(selection);
}

/** Compiles a checked expression. */
export function compileCoalesce({ chains }: Coalesce): Evaluate {
  const compiled = chains.map(compileChain);
  const only = compiled[0];
  if (compiled.length === 1 && only !== undefined) return only;
  return (value, scope) => {
    for (const chain of compiled) {
      const found = chain(value, scope);
      if (found !== null) return found;
    }
    return null;
  };
}

function compileMembers(members: readonly Member[]): Evaluate {
  const compiled = members.map((member) => [member.name, compileSelection(member.value)] as const);
  return (value, scope) => {
    const object: Record<string, unknown> = Object.create(null);
    for (const [name, evaluate] of compiled) {
      try {
        object[name] = evaluate(value, scope);
      } catch (thrown) {
        // graphql-js throws an Error it meets as a value, at that field: one bad date spoils one date, not the list.
        if (!(thrown instanceof MappingValueError)) throw thrown;
        object[name] = thrown;
      }
    }
    return object;
  };
}

function compileChain({ head, steps, members }: Chain): Evaluate {
  const parts = steps.map(compileStep);
  const inner = members === undefined ? undefined : eachItem(compileMembers(members));
  return (value, scope) => {
    let found: unknown;
    if (head.kind === 'here') found = value ?? null;
    else if (head.kind === 'variable') found = scope[head.name] ?? null;
    else if (head.kind === 'literal') found = head.value;
    else found = readKey(value, head.name);
    for (const part of parts) {
      if (found === null) return null;
      found = part(found);
    }
    return inner === undefined || found === null ? found : inner(found, scope);
  };
}

function compileStep(step: Step): (value: unknown) => unknown {
  if (step.kind === 'key') return (value) => readKey(value, step.name);
  const apply = findMethod(step.name)?.apply;
  return (value) => {
    // Compiled even with a mistake in it, so that the rest is checked too; it never gets to run.
    if (apply === undefined) throw new Error(`no method ${step.name}`);
    return apply(value, ...step.args);
  };
}

/** Own keys only: what an object inherits is not data. A list gives the key of each of its items, one level deep. */
function readKey(value: unknown, key: string): unknown {
  return Array.isArray(value) ? value.map((item) => ownKey(item, key)) : ownKey(value, key);
}

function ownKey(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key)) return null;
  return (value as Record<string, unknown>)[key] ?? null;
}

function eachItem(evaluate: Evaluate): Evaluate {
  return (value, scope) => {
    if (!Array.isArray(value)) return evaluate(value, scope);
    return value.map((item) => (item === null ? null : evaluate(item, scope)));
  };
}
