import { z } from 'zod';
import { cookiePattern } from '../../config/name.ts';
import type { UntracedProblem } from '../../config/problems.ts';
import { type Tree, valueAt } from '../../config/tree.ts';
import { isObject } from '../../http/json-object.ts';

/** Whether routes are enforced or only observed. The gate's own endpoints are enforced in both modes. */
export const enforcement = z.strictObject({
  mode: z.enum(['enforce', 'observe']).default('enforce').meta({
    description:
      '`observe` passes requests that `routes` would refuse to the site unchanged, and counts them so that `coursegate observed` can suggest routes. Only for trying things out.',
  }),
  cookies: z.array(cookiePattern).default([]).meta({
    description:
      'In observe mode: further cookies that show that a member is signed in, besides `login.cookies`. * matches any number of characters.',
  }),
});

/**
 * Refuses observe mode where it would be dangerous or useless. Takes the merged settings before they are validated.
 */
export function checkEnforcement(tree: Tree): readonly UntracedProblem[] {
  if (valueAt(tree, ['enforcement', 'mode']) !== 'observe') return [];
  const path = ['enforcement', 'mode'];
  const found = (message: string): UntracedProblem => ({ path, at: 'value', message });
  const level = valueAt(tree, ['log', 'level']);
  return [
    ...(isObject(tree.site) ? [] : [found('`observe` needs `site`, which gets the requests that are let through')]),
    ...(level === 'error' || level === 'silent'
      ? [found('`observe` needs its warnings logged: set log.level to warn, info or debug')]
      : []),
  ];
}
