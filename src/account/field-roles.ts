import { defaultFieldResolver, type GraphQLSchema, getDirectiveValues, isNonNullType, isObjectType } from 'graphql';
import type { MemberRoles, RolesOf } from '../oauth/member-roles.ts';
import { meets, neededRole, parseRule, placesOf, type RoleRule } from '../roles/settings-rule.ts';
import { type Mistakes, placeOf } from './connect/mistakes.ts';
import type { AccountOperation } from './connect/operation.ts';
import type { Contract } from './contract.ts';
import { type ContractField, fieldAt } from './contract-fields.ts';
import { AccountError } from './errors.ts';

/** The roles that fields need, by coordinate (`Mutation.setGrade`). */
export type FieldRoles = ReadonlyMap<string, RoleRule>;

/**
 * Reads @requiresRole. Such a field must be nullable, as with @requiresScopes, and has the argument in which its rule
 * looks for the course. `hasRoles`: the configuration says where to ask for roles.
 */
export function readFieldRoles({ schema, vocabulary }: Contract, hasRoles: boolean, mistakes: Mistakes): FieldRoles {
  const definition = vocabulary.getDirective('requiresRole');
  const rules = new Map<string, RoleRule>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const given = field.astNode && definition && getDirectiveValues(definition, field.astNode)?.role;
      if (!field.astNode || given === undefined) continue;
      const coordinate = `${type.name}.${field.name}`;
      const rule = parseRule(given);
      const mistake = hasRoles ? mistakeIn(rule, field) : 'the configuration has no `roles` to ask';
      if (mistake !== undefined) mistakes.add(placeOf(field.astNode.name), coordinate, `@requiresRole: ${mistake}`);
      if (rule === undefined) continue;
      rules.set(coordinate, rule);
      field.description = `${field.description ?? ''}${field.description ? ' ' : ''}${neededRole(rule)}`;
    }
  }
  return rules;
}

function mistakeIn(rule: RoleRule | undefined, { args, type }: ContractField): string | undefined {
  if (rule === undefined)
    return 'needs roles such as admin, instructor of any course, or instructor of {args.courseId}';
  if (isNonNullType(type)) return 'the field must be nullable';
  const wrong = placesOf(rule).find(
    ({ in: where, name }) => where !== 'args' || !args.some((one) => one.name === name && isNonNullType(one.type)),
  );
  return wrong && `needs an argument ${wrong.name} that is required, as {args.${wrong.name}}`;
}

/** Fields that a GraphQL upstream returns with their object would be requested before their role is known. */
export function refuseRolesWithin(
  coordinate: string,
  field: ContractField,
  rules: FieldRoles,
  mistakes: Mistakes,
): void {
  if (!rules.has(coordinate) || !field.astNode) return;
  const message = '@requiresRole: must be at the field with @graphql, not at one that comes with its object';
  mistakes.add(placeOf(field.astNode.name), coordinate, message);
}

/** Wraps the resolvers, so that a refused field calls no upstream. Resolvers must be attached first. */
export function attachFieldRoles(schema: GraphQLSchema, rules: FieldRoles, rolesOf: RolesOf): void {
  for (const [coordinate, rule] of rules) {
    const { field } = fieldAt(schema, coordinate);
    const resolve = field.resolve ?? defaultFieldResolver;
    field.resolve = async (source, args: Readonly<Record<string, unknown>>, operation: AccountOperation, info) => {
      const roles = await known(rolesOf, operation.principal.sub);
      const courseAt = ({ name }: { readonly name: string }) => {
        const value = args[name];
        return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
      };
      if (meets(rule, roles, courseAt)) return resolve(source, args, operation, info);
      operation.withoutRole = true;
      const requiredRoles = rule.map(({ role }) => role);
      throw new AccountError('UNAUTHORIZED_FIELD_OR_TYPE', { message: neededRole(rule), details: { requiredRoles } });
    };
  }
}

async function known(rolesOf: RolesOf, sub: string): Promise<MemberRoles> {
  try {
    return await rolesOf(sub);
  } catch (cause) {
    throw new AccountError('UPSTREAM_UNAVAILABLE', { cause });
  }
}
