import { parameterNames } from '../parameter-name.ts';
import type { Target } from '../target.ts';

/** A target with a parameter of ours, and none of that name, in whatever spelling, that came with it. */
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
