import { z } from 'zod';
import { cookiePattern } from '../../config/name.ts';
import type { UntracedProblem } from '../../config/problems.ts';
import { type Tree, valueAt } from '../../config/tree.ts';
import { isObject } from '../../http/json-object.ts';

/** Whether routes are enforced or only observed. The gate's own endpoints are enforced in both modes. */
export const enforcement = z.strictObject({
  mode: z.enum(['enforce', 'observe']).default('enforce'),
  cookies: z.array(cookiePattern).default([]),
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
