import { parameterNames } from '../parameter-name.ts';
import type { Target } from '../target.ts';

/** Sets a query parameter, and removes every parameter from the client that a server might read as the same name. */
export function withParameter(
  target: Target,
  { name, value }: { readonly name: string; readonly value: string },
): Target {
  const names = parameterNames([name]);
  const kept = target.query
    .slice(1)
    .split('&')
    .filter((piece) => piece !== '' && !names.inQuery(piece));
  return { path: target.path, query: `?${[...kept, `${name}=${encodeURIComponent(value)}`].join('&')}` };
}
