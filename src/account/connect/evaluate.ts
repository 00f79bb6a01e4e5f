import { findMethod, MappingValueError, type MethodArgument } from './methods.ts';
import type { Argument, Chain, Coalesce, Member, Selection, Step, Variable } from './syntax.ts';

/** The values of a mapping's variables. A connector only gets those allowed in its place (see references.ts). */
export type Scope = Readonly<Partial<Record<Variable, unknown>>>;

/** A compiled selection: turns an upstream's value into the contract's. Missing values are null. */
export type Evaluate = (value: unknown, scope: Scope) => unknown;

/**
 * Compiles a checked selection. The result throws MappingValueError when a value does not have the type a method needs.
 * Inside an object the error becomes the value of the property instead.
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
        // graphql-js throws an Error that is the value of a field at that field, so one bad date only affects itself.
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
      found = part(found, scope);
    }
    return inner === undefined || found === null ? found : inner(found, scope);
  };
}

function compileStep(step: Step): Evaluate {
  if (step.kind === 'key') return (value) => (value === null ? null : readKey(value, step.name));
  const method = findMethod(step.name);
  const args = step.args.map(compileArgument);
  const onlyLiterals = step.args.every(({ kind }) => kind === 'literal');
  const literals = onlyLiterals ? args.map((of) => of({})) : undefined;
  return (value, scope) => {
    // A selection with a mistake is compiled so that the rest is checked too, but it never runs.
    if (method === undefined) throw new Error(`no method ${step.name}`);
    if (value === null && method.ofNull !== true) return null;
    return method.apply(value, ...(literals ?? args.map((of) => of(scope))));
  };
}

/** Compiles an argument: a literal to its value, an expression to a function of the item that the method passes. */
function compileArgument(argument: Argument): (scope: Scope) => MethodArgument {
  if (argument.kind === 'literal') return () => argument.value;
  const evaluate = compileCoalesce(argument.value);
  return (scope) => (item: unknown) => evaluate(item, scope);
}

/** Reads a key; of a list, the key of each item, one level deep. Inherited properties are not data. */
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
