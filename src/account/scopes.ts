import {
  type DocumentNode,
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLSchema,
  getDirectiveValues,
  getNamedType,
  getOperationAST,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { covers, type Scope } from '../oauth/scope.ts';
import { type Mistakes, placeOf } from './connect/mistakes.ts';
import type { AccountOperation } from './connect/operation.ts';
import type { Contract } from './contract.ts';
import { fieldAt } from './contract-fields.ts';
import { AccountError } from './errors.ts';
import { fieldsOf, fragmentsOf } from './read-fields.ts';

/** The scopes a field requires: of each entry one list, and of that list every scope. */
type Requirements = readonly (readonly (readonly string[])[])[];

/** The guarded fields of a contract, by coordinate (`Viewer.orders`). */
export type Guards = ReadonlyMap<string, Requirements>;

/**
 * Reads @requiresScopes on each field, its parent type and its result type. `declared` are the scopes of the
 * configuration. A guarded field must be nullable: otherwise a refusal would make its parent null too.
 */
export function readGuards(contract: Contract, declared: ReadonlySet<string>, mistakes: Mistakes): Guards {
  const { schema, vocabulary } = contract;
  const definition = vocabulary.getDirective('requiresScopes');
  const guards = new Map<string, Requirements>();
  if (!definition) return guards;
  const requirementOf = (node: Parameters<typeof getDirectiveValues>[1] | null | undefined) =>
    node ? (getDirectiveValues(definition, node)?.scopes as readonly (readonly string[])[] | undefined) : undefined;

  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const coordinate = `${type.name}.${field.name}`;
      const given = getNamedType(field.type);
      const requirements = [field.astNode, type.astNode, isObjectType(given) ? given.astNode : undefined]
        .map(requirementOf)
        .filter((requirement) => requirement !== undefined);
      const name = field.astNode?.name;
      if (requirements.length === 0 || name === undefined) continue;
      guards.set(coordinate, requirements);
      const wrong = (message: string) => mistakes.add(placeOf(name), coordinate, message);
      if (isNonNullType(field.type)) wrong('requires a scope, so it must be nullable');
      for (const scope of new Set(requirements.flat(2))) {
        if (!declared.has(scope)) wrong(`@requiresScopes: the configuration has no scope "${scope}"`);
      }
      field.description = described(field, requirements);
    }
  }
  return guards;
}

/** Adds the required scopes to the description of a field, since introspection does not show the directive. */
function described({ description }: GraphQLField<unknown, unknown>, requirements: Requirements): string {
  const words = requirements.map((lists) => lists.map((scopes) => scopes.join(' and ')).join(', or ')).join('; and ');
  return `${description ?? ''}${description ? ' ' : ''}Needs ${words}.`;
}

/** The requirements that the granted scopes do not meet; undefined when they meet all. */
function missing(requirements: Requirements, granted: Scope): Requirements | undefined {
  const open = requirements.filter((lists) => !lists.some((scopes) => covers(granted, scopes)));
  return open.length === 0 ? undefined : open;
}

/** Whether a token with these scopes may read a guarded field. */
export function opensTo(requirements: Requirements, granted: Scope): boolean {
  return missing(requirements, granted) === undefined;
}

/** Wraps the resolvers in guards, so that a refused field calls no upstream. Resolvers must be attached first. */
export function attachGuards(schema: GraphQLSchema, guards: Guards): void {
  for (const [coordinate, requirements] of guards) {
    const { field } = fieldAt(schema, coordinate);
    const resolve = field.resolve ?? defaultFieldResolver;
    field.resolve = (source, args, operation: AccountOperation, info) => {
      const open = missing(requirements, operation.principal.scope);
      if (open !== undefined)
        throw new AccountError('UNAUTHORIZED_FIELD_OR_TYPE', { details: { requiredScopes: open.flat() } });
      return resolve(source, args, operation, info);
    };
  }
}

/**
 * Finds the scopes that a mutation lacks before any part of it runs, because half a write is worse than none and
 * refusing the whole request allows a 403. Expects a valid document. Returns the scopes to request in addition to those
 * granted; undefined when the token suffices or the operation is not a mutation.
 */
export function scopesMissingForMutation(
  schema: GraphQLSchema,
  guards: Guards,
  document: DocumentNode,
  operationName: string | undefined,
  granted: Scope,
): readonly string[] | undefined {
  const operation = getOperationAST(document, operationName);
  const root = operation?.operation === 'mutation' ? schema.getMutationType() : undefined;
  if (!operation || !root) return undefined;
  const needed = fieldsOf(fragmentsOf(document), operation.selectionSet).flatMap(({ name }) => {
    const open = missing(guards.get(`${root.name}.${name.value}`) ?? [], granted);
    // If several lists would do, the first is the one to request.
    return open?.flatMap(([scopes = []]) => scopes) ?? [];
  });
  return needed.length === 0 ? undefined : [...new Set(needed)];
}

/** The scopes that the guarded fields of queries need: of several lists that would do, the first. */
export function scopesOfQueries({ schema }: Contract, guards: Guards): readonly string[] {
  const mutations = `${schema.getMutationType()?.name}.`;
  const reads = [...guards].filter(([coordinate]) => !coordinate.startsWith(mutations));
  return [...new Set(reads.flatMap(([, requirements]) => requirements.flatMap(([scopes = []]) => scopes)))];
}
