import { checkMapping } from './connect/check.ts';
import { type Mapping, type MappingFile, type MappingNames, readMapping } from './connect/mapping.ts';
import { Mistakes } from './connect/mistakes.ts';
import { attachResolvers } from './connect/resolvers.ts';
import { type Contract, readContract } from './contract.ts';
import { attachScalars, SCALAR_NAMES } from './scalars.ts';
import { attachGuards, type Guards, readGuards } from './scopes.ts';

export interface AccountSchema extends Contract {
  readonly mapping: Mapping;
  readonly guards: Guards;
}

/** What the contract and its mapping may refer to, by name. */
export interface Known extends MappingNames {
  readonly scopes: readonly string[];
}

/**
 * Builds the Account API. In: the contract's SDL, the mapping files, and what they may name. Out: the contract as an
 * executable schema, and the mapping its resolvers need in an Operation. No directive of the mapping is in the schema,
 * so none is in introspection. Throws MappingError with every mistake.
 */
export function buildAccountSchema(text: string, files: readonly MappingFile[], known: Known): AccountSchema {
  const mistakes = new Mistakes();
  const contract = readContract(text, mistakes);
  if (contract === undefined) {
    mistakes.throwIfAny();
    throw new Error('a contract without a schema has mistakes');
  }
  const { schema } = contract;
  const guards = readGuards(contract, new Set(known.scopes), mistakes);
  const mapping = readMapping(files, schema, known, mistakes);
  checkMapping(schema, mapping, SCALAR_NAMES, mistakes);
  mistakes.throwIfAny();
  attachScalars(schema);
  attachResolvers(schema, mapping);
  attachGuards(schema, guards);
  return { ...contract, mapping, guards };
}
