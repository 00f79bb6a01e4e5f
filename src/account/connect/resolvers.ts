import { type GraphQLFieldResolver, type GraphQLSchema, getNamedType, isObjectType } from 'graphql';
import { fieldAt, tokenFields } from '../contract-fields.ts';
import { AccountError } from '../errors.ts';
import { resolveConnection } from './connection.ts';
import type { FieldMapping, Mapping, TypeMapping } from './mapping.ts';
import { MappingValueError } from './mapping-value.ts';
import type { AccountOperation } from './operation.ts';
import { isInternalName, memberNames } from './syntax.ts';

type Resolver = GraphQLFieldResolver<unknown, AccountOperation, Record<string, unknown>>;

/** Attaches resolvers for a checked mapping. graphql-js resolves all other fields by name. */
export function attachResolvers(contract: GraphQLSchema, mapping: Mapping): void {
  for (const [coordinate, field] of mapping.fields)
    attach(contract, coordinate, fieldResolver(field, requiredBatch(contract, mapping, field)));
  for (const [type, batch] of mapping.types) {
    for (const name of memberNames(batch.connector.selection)) {
      if (name !== batch.key && !isInternalName(name)) attach(contract, `${type}.${name}`, batchResolver(batch, name));
    }
  }
  const [viewer, id] = tokenFields(contract);
  attach(contract, viewer, (_source, _args, operation) => ({ id: operation.principal.sub }));
  attach(contract, id, (_source, _args, operation) => operation.principal.sub);
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
      const variables = operation.variables({ args, this: source });
      const data = await operation.request(connector, variables);
      return data === undefined ? null : connector.select(data, variables);
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

/** What a resolver throws for any error: data that does not fit the mapping is the upstream's fault, the rest is ours. */
function asAccountError(thrown: unknown): AccountError {
  if (thrown instanceof AccountError) return thrown;
  const code = thrown instanceof MappingValueError ? 'UPSTREAM_BAD_RESPONSE' : 'INTERNAL_SERVER_ERROR';
  return new AccountError(code, { cause: thrown });
}

function attach(contract: GraphQLSchema, coordinate: string, resolve: Resolver): void {
  fieldAt(contract, coordinate).field.resolve = resolve;
}
