import { parameterNames } from '../parameter-name.ts';
import type { Target } from '../target.ts';

/** Sets a query parameter, and removes every parameter from the client that a server might read as the same name. */
export function withParameter(
  target: Target,
  { name, value }: { readonly name: string; readonly value: string },
): Target {
  const others = parameterNames([name]).othersIn(target.query);
  return { path: target.path, query: `?${[...others, `${name}=${encodeURIComponent(value)}`].join('&')}` };
}
