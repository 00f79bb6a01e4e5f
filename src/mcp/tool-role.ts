import type { RolesOf } from '../oauth/member-roles.ts';
import type { Principal } from '../oauth/principal.ts';
import { type CoursePlace, canMeet, meets, neededRole, type RoleRule } from '../roles/settings-rule.ts';
import type { ToolInput } from './argument-template.ts';
import { type Action, memberOf, type Tool, type ToolOutcome } from './tool.ts';

/** The outcome of a call by a member without the role. Nothing was requested. */
export function withoutRole(refusal: string): ToolOutcome {
  return { kind: 'failed', message: refusal, undone: true, refused: true };
}

/** The action for members with the role only. */
export function actionWithRole(rule: RoleRule | undefined, rolesOf: RolesOf, act: Action): Action {
  if (rule === undefined) return act;
  const refusal = withoutRole(neededRole(rule));
  return async (input, context) => {
    const { sub } = memberOf(context.principal);
    return meets(rule, await rolesOf(sub), ({ name }) => courseIn(input, { name })) ? act(input, context) : refusal;
  };
}

function courseIn(input: ToolInput, { name }: Pick<CoursePlace, 'name'>): string | undefined {
  const value = Object.hasOwn(input, name) ? input[name] : undefined;
  return typeof value === 'string' || Number.isSafeInteger(value) ? String(value) : undefined;
}

/** The tools that a member could call for no course at all. They are not listed. */
export async function toolsWithoutRole(
  tools: readonly Tool[],
  principal: Principal,
  rolesOf: RolesOf,
): Promise<ReadonlySet<Tool>> {
  const needing = tools.filter(({ roles }) => roles.length > 0);
  if (needing.length === 0 || principal.kind !== 'member') return new Set();
  const held = await rolesOf(principal.sub);
  return new Set(needing.filter(({ roles }) => !roles.every((rule) => canMeet(rule, held))));
}
