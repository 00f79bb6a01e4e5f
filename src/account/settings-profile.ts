import type { Layers } from '../config/layers.ts';
import type { UntracedProblem } from '../config/problems.ts';
import { type Tree, valueAt } from '../config/tree.ts';
import { isObject } from '../http/json-object.ts';

/** What an operator can use instead of a profile with the Account API. */
const WITHOUT_IT =
  'An origin without the Account API has `profile: B`, with `resourceIndicator: required` and `anonymous: refuse` if it is to be as strict';

/**
 * Drops an `account` block that only a profile has: profiles set `enabled`, but only the operator can name its files.
 * With a profile that serves the Account API, `checkProfileAccount` has then reported it.
 */
export function withoutUnaskedAccount(tree: Tree, layers: Layers): Tree {
  if (isAsked(layers)) return tree;
  const { account: _, ...rest } = tree;
  return rest;
}

/**
 * Refuses a profile that serves the Account API without the Account API: its address would belong to the site, which
 * would receive the tokens of members.
 */
export function checkProfileAccount(tree: Tree, layers: Layers, profile: string): readonly UntracedProblem[] {
  if (valueAt(layers.profile.tree, ['account', 'enabled']) !== true) return [];
  if (!isAsked(layers)) {
    const message = `${profile} serves the Account API, and \`account\` is missing. Add these lines, with your own files (docs/data.md):
    account:
      schema: account.graphql
      mappings: mapping.graphql
  ${WITHOUT_IT}`;
    return [{ path: ['profile'], at: 'value', message }];
  }
  if (!isObject(tree.account) || tree.account.enabled !== false) return [];
  return [
    {
      path: ['account', 'enabled'],
      at: 'value',
      message: `cannot be false: profile ${profile} serves the Account API. ${WITHOUT_IT}`,
    },
  ];
}

/** Whether the operator has an `account` block. */
function isAsked({ file, environment, overrides }: Layers): boolean {
  return [file, environment, overrides].some((layer) => layer.tree.account !== undefined);
}
