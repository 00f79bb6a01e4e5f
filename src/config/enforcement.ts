import { z } from 'zod';
import type { Finding } from './problems.ts';
import { cookiePattern } from './session-login.ts';
import { isTree, type Tree, valueAt } from './tree.ts';

/** Whether the routes are held to, or only watched. The gate's own addresses are held to in either case. */
export const enforcement = z.strictObject({
  mode: z.enum(['enforce', 'observe']).default('enforce').meta({
    description:
      'observe: what `routes` would refuse goes to the site as it came, and is counted, so that `coursegate observed` can propose routes. For trying out only.',
  }),
  cookies: z.array(cookiePattern).default([]).meta({
    description:
      'In observe mode: the cookies by which a signed-in member is told, with * as in login.cookies, which count too.',
  }),
});

/**
 * Refuses observe mode where it would be a danger, or no use. In: the merged settings, not yet known to fit the schema.
 */
export function checkEnforcement(tree: Tree): readonly Finding[] {
  if (valueAt(tree, ['enforcement', 'mode']) !== 'observe') return [];
  const path = ['enforcement', 'mode'];
  const found = (message: string): Finding => ({ path, at: 'value', message });
  const level = valueAt(tree, ['log', 'level']);
  return [
    ...(isTree(tree.site) ? [] : [found('observe needs `site`: what is let through goes there')]),
    ...(level === 'error' || level === 'silent'
      ? [found('observe must not be silent: log.level must be warn or less')]
      : []),
  ];
}
