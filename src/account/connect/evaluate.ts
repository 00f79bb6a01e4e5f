import { isObject } from '../../http/json-object.ts';
import { kindOf } from './kinds.ts';
import { fail, MappingValueError } from './mapping-value.ts';
import { findMethod } from './methods.ts';
import type { Chain, ChainStep, Coalesce, Head, Selection, SelectionMember, Value, Variable } from './syntax.ts';
import { count, type Work } from './work.ts';

/**
 * The values of a mapping's variables. A connector only gets those allowed in its place (see references.ts). `timeZone` is
 * that of local times (default: UTC), and `work` bounds what expressions go through (default: without limit).
 */
export type VariableValues = Readonly<Partial<Record<Variable, unknown>>> & {
  readonly timeZone?: string;
  readonly work?: Work;
};

/** A compiled selection: turns an upstream's value into the contract's. Missing values are null. */
export type Evaluate = (value: unknown, variables: VariableValues) => unknown;

/** A compiled part of a selection: of '@', the variables, and '$'. */
type Part = (here: unknown, variables: VariableValues, current: unknown) => unknown;
/** A compiled step, of the value before it. '@' in its arguments is what it is around the step. */
type StepPart = (value: unknown, variables: VariableValues, current: unknown, here: unknown) => unknown;

/**
 * Compiles a checked selection. The result throws MappingValueError when a value does not have the type a method needs.
 * Inside an object the error becomes the value of the property instead.
 */
export function compileSelection(selection: Selection): Evaluate {
  const compiled = compilePart(selection);
  return (value, variables) => compiled(value, variables, value);
}

function compilePart(selection: Selection): Part {
  return selection.kind === 'members' ? compileMembers(selection.members) : compileCoalesce(selection);
}

function compileCoalesce({ chains }: Coalesce): Part {
  const compiled = chains.map(compileChain);
  const only = compiled[0];
  if (compiled.length === 1 && only !== undefined) return only;
  return (here, variables, current) => {
    for (const chain of compiled) {
      const found = chain(here, variables, current);
      if (found !== null) return found;
    }
    return null;
  };
}

function compileMembers(members: readonly SelectionMember[]): Part {
  const compiled = members.map((member) => [member.name, compilePart(member.value)] as const);
  return (value, variables) => {
    const object: Record<string, unknown> = Object.create(null);
    for (const [name, evaluate] of compiled) {
      try {
        object[name] = evaluate(value, variables, value);
      } catch (thrown) {
        // graphql-js throws an Error that is the value of a field at that field, so one bad date only affects itself.
        if (!(thrown instanceof MappingValueError)) throw thrown;
        object[name] = thrown;
      }
    }
    return object;
  };
}

function compileChain({ head, steps, members }: Chain): Part {
  const begin = compileHead(head);
  const parts = steps.map(compileStep);
  const inner = members === undefined ? undefined : eachItem(compileMembers(members));
  return (here, variables, current) => {
    let found = begin(here, variables, current);
    for (const part of parts) found = part(found, variables, current, here);
    return inner === undefined || found === null ? found : inner(found, variables, current);
  };
}

function compileHead(head: Head): Part {
  switch (head.kind) {
    case '$':
      return (_here, _variables, current) => current ?? null;
    case '@':
      return (here) => here ?? null;
    case 'variable':
      return (_here, variables) => variables[head.name] ?? null;
    case 'value':
      return compileValue(head.value);
    case 'key':
      return (here, variables) => readKey(here, head.name, variables);
  }
}

/** A list of literals is always the same list. */
function compileValue(value: Value): Part {
  if (value.kind === 'literal') return () => value.value;
  if (value.kind === 'expression') return compileCoalesce(value.value);
  const items = value.items.map(compileValue);
  if (!isConstant(value)) return (here, variables, current) => items.map((item) => item(here, variables, current));
  const list = items.map((item) => item(null, {}, null));
  return () => list;
}

function isConstant(value: Value): boolean {
  return value.kind === 'list' ? value.items.every(isConstant) : value.kind === 'literal';
}

function compileStep(step: ChainStep): StepPart {
  if (step.kind === 'key') return (value, variables) => (value === null ? null : readKey(value, step.name, variables));
  const method = findMethod(step.name);
  const args = compileArguments(step.name, step.args);
  return (value, variables, current, here) => {
    // A selection with a mistake is compiled so that the rest is checked too, but it never runs.
    if (method === undefined) throw new Error(`no method ${step.name}`);
    if (value === null && method.ofNull !== true) return null;
    count(value, variables.work);
    const given: unknown[] = [];
    for (const { of, ofNull } of args) {
      const argument = of(here, variables, current);
      if (argument === null && !ofNull) return null;
      count(argument, variables.work);
      given.push(argument);
    }
    const result = method.apply(value, ...given);
    count(result, variables.work);
    return result;
  };
}

/** The arguments of a method: values, or functions of the items that it passes. */
function compileArguments(name: string, values: readonly Value[]): readonly { of: Part; ofNull: boolean }[] {
  const takes = findMethod(name)?.takes ?? [];
  const compiled = values.flatMap((value, index) => {
    const { is, fits, needs, ofNull = false } = kindOf(takes[Math.min(index, takes.length - 1)] ?? 'any');
    if (is === 'pair') return value.kind === 'list' ? value.items.map((item) => ({ of: later(item), ofNull })) : [];
    if (is === 'item') return [{ of: later(value), ofNull }];
    const of = compileValue(value);
    if (isConstant(value)) return [{ of, ofNull: true }];
    const checked: Part = (here, variables, current) => {
      const found = of(here, variables, current);
      return found === null || fits(found) ? found : fail(name, `${needs} as its argument`);
    };
    return [{ of: checked, ofNull }];
  });
  if (takes[compiled.length] === 'zone')
    compiled.push({ of: (_here, variables) => variables.timeZone ?? 'UTC', ofNull: false });
  return compiled;
}

/** A function of the item that a method passes. */
function later(value: Value): Part {
  const evaluate = compileValue(value);
  return (_here, variables, current) => (item: unknown) => evaluate(item, variables, current);
}

/** Reads a key; of a list, the key of each item, one level deep. Inherited properties are not data. */
function readKey(value: unknown, key: string, { work }: VariableValues): unknown {
  if (!Array.isArray(value)) return ownKey(value, key);
  count(value, work);
  return value.map((item) => ownKey(item, key));
}

function ownKey(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? (value[key] ?? null) : null;
}

function eachItem(evaluate: Part): Part {
  return (value, variables, current) => {
    if (!Array.isArray(value)) return evaluate(value, variables, current);
    return value.map((item) => (item === null ? null : evaluate(item, variables, current)));
  };
}
