import { counted } from '../../http/amounts.ts';
import { LOCAL_FORMATS } from './date-time.ts';
import { type Kind, kindOf } from './kinds.ts';
import { findMethod, methodNames } from './methods.ts';
import { literalOf, type Value } from './syntax.ts';

/** Describes what is wrong with a method call; undefined if nothing is. */
export function checkCall(name: string, args: readonly Value[]): string | undefined {
  const method = findMethod(name);
  if (method === undefined) return `there is no method ->${name}; available are ${methodNames().join(', ')}`;
  const { takes, last } = method;
  const least = last === 'optional' ? takes.length - 1 : takes.length;
  if (args.length < least || (args.length > takes.length && last !== 'many'))
    return `->${name} takes ${last === undefined ? '' : 'at least '}${counted(least, 'argument')}`;
  for (const [index, argument] of args.entries()) {
    const kind = takes[Math.min(index, takes.length - 1)];
    const wrong = kind === undefined ? undefined : checkArgument(name, kind, argument);
    if (wrong !== undefined) return wrong;
  }
  return name === 'toDateTime' && args[1] !== undefined && !LOCAL_FORMATS.includes(literalOf(args[0]))
    ? `->${name} takes a time zone with ${LOCAL_FORMATS.join(' and ')} only`
    : undefined;
}

function checkArgument(name: string, kind: Kind, argument: Value): string | undefined {
  const { needs, fits, is } = kindOf(kind);
  const wrong = `->${name} takes ${needs}`;
  if (is === 'item') return argument.kind === 'expression' ? undefined : wrong;
  if (is === 'pair') return argument.kind === 'list' && argument.items.length === 2 ? undefined : wrong;
  // What an expression gives is checked when it is known.
  if (argument.kind === 'expression') return is === 'literal' ? wrong : undefined;
  const value = argument.kind === 'list' ? [] : argument.value;
  if (!fits(value)) return wrong;
  return (name === 'div' || name === 'mod') && value === 0 ? `->${name} cannot divide by 0` : undefined;
}
