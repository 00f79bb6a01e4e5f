import { type GraphQLFieldResolver, type GraphQLSchema, getNamedType, isObjectType } from 'graphql';
import { AccountError } from '../errors.ts';
import { fieldAt } from '../field-at.ts';
import { resolveConnection } from './connection.ts';
import { evaluated } from './evaluated.ts';
import type { FieldMapping, Mapping, TypeMapping } from './mapping.ts';
import type { AccountOperation } from './operation.ts';
import { ownFields } from './own-fields.ts';
import { memberNames } from './selection-names.ts';
import { isOwnName } from './syntax.ts';

type Resolver = GraphQLFieldResolver<unknown, AccountOperation, Record<string, unknown>>;

/** Attaches resolvers for a checked mapping. graphql-js resolves all other fields by name. */
export function attachResolvers(contract: GraphQLSchema, mapping: Mapping): void {
  for (const [coordinate, field] of mapping.fields) {
    attach(contract, coordinate, fieldResolver(field, requiredBatch(contract, mapping, field)));
  }
  for (const [type, batch] of mapping.types) {
    for (const name of memberNames(batch.connector.selection)) {
      if (name !== batch.key && !isOwnName(name)) attach(contract, `${type}.${name}`, batchResolver(batch, name));
    }
  }
  const own = ownFields(contract);
  attach(contract, own.viewer, (_source, _args, operation) => ({ id: operation.principal.sub }));
  attach(contract, own.id, (_source, _args, operation) => operation.principal.sub);
}

/** The batch without which the nodes of a connection are left out. */
function requiredBatch(
  contract: GraphQLSchema,
  mapping: Mapping,
  { coordinate, pages }: FieldMapping,
): TypeMapping | undefined {
  const type = getNamedType(fieldAt(contract, coordinate).field.type);
  const nodes = pages !== undefined && isObjectType(type) ? type.getFields().nodes : undefined;
  const batch = nodes && mapping.types.get(getNamedType(nodes.type).name);
  return batch?.required === true ? batch : undefined;
}

function fieldResolver(field: FieldMapping, required: TypeMapping | undefined): Resolver {
  const { connector, pages } = field;
  return async (source, args, operation) => {
    try {
      if (pages !== undefined)
        return await resolveConnection(field, pages, { args, this: source }, operation, required);
      const scope = operation.scope({ args, this: source });
      const answer = await operation.ask(connector, scope);
      return answer === undefined ? null : evaluated(() => connector.select(answer, scope));
    } catch (thrown) {
      throw asAccountError(thrown);
    }
  };
}

/** Resolves a batched field. Called for every object of a window, so it avoids the extra promise of an async function. */
function batchResolver(batch: TypeMapping, name: string): Resolver {
  const pick = (fields: Readonly<Record<string, unknown>> | undefined) => fields?.[name] ?? null;
  const refuse = (thrown: unknown) => {
    throw asAccountError(thrown);
  };
  return (source, _args, operation) =>
    operation.fieldsOf(batch, (source as Record<string, unknown>)[batch.key]).then(pick, refuse);
}

/** Turns any other error that a resolver throws into an internal one: it is our fault, not the upstream's. */
function asAccountError(thrown: unknown): AccountError {
  return thrown instanceof AccountError ? thrown : new AccountError('INTERNAL_SERVER_ERROR', { cause: thrown });
}

function attach(contract: GraphQLSchema, coordinate: string, resolve: Resolver): void {
  fieldAt(contract, coordinate).field.resolve = resolve;
}
