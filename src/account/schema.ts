/**
 * The Account API: a GraphQL endpoint over the backend's own APIs. The operator writes the contract that clients see and
 * mappings that say which call of which upstream each field comes from: REST (`connect/`) or GraphQL (`remote/`).
 */

import type { RolesOf } from '../oauth/member-roles.ts';
import { checkMapping } from './connect/check.ts';
import type { MappingNames } from './connect/mapping.ts';
import { Mistakes } from './connect/mistakes.ts';
import { readMapping } from './connect/read-mapping.ts';
import { attachResolvers } from './connect/resolvers.ts';
import { type MergeTypes, readContract } from './contract.ts';
import { attachFieldRoles, readFieldRoles, refuseRolesWithin } from './field-roles.ts';
import { joinRemoteFields } from './remote/check.ts';
import { type RecordedFile, readRecorded } from './remote/recorded.ts';
import { attachRemote, fieldsBelow } from './remote/resolvers.ts';
import { attachScalars } from './scalars.ts';
import { attachGuards, readGuards } from './scopes.ts';
import type { TextFile } from './settings-files.ts';

export type AccountSchema = ReturnType<typeof buildAccountSchema>;

/** The names that the contract and its mapping can refer to. */
export interface KnownNames extends MappingNames {
  /** What @requiresScopes may name. */
  readonly scopes: readonly string[];
  /** What members are; undefined if nothing says so, and no field may need a role. */
  readonly rolesOf?: RolesOf | undefined;
  /** The schemas of GraphQL upstreams. */
  readonly recorded?: readonly RecordedFile[];
  /** From `loadTypeMerger`. A contract without extensions needs none. */
  readonly merge?: MergeTypes | undefined;
}

/**
 * Builds the Account API from the files of the contract and of the mapping: an executable schema, and the mapping that its
 * resolvers need in an Operation. The directives of the mapping are not part of the schema, so introspection does not
 * show them.
 *
 * @throws {MappingError} with every mistake
 */
export function buildAccountSchema(files: readonly TextFile[], mappings: readonly TextFile[], known: KnownNames) {
  const mistakes = new Mistakes();
  const contract = readContract(files, mistakes, known.merge);
  const { schema } = contract;
  const guards = readGuards(contract, new Set(known.scopes), mistakes);
  const roles = readFieldRoles(contract, known.rolesOf !== undefined, mistakes);
  const mapping = readMapping(mappings, schema, known, mistakes);
  checkMapping(schema, mapping, mistakes);
  const recorded = readRecorded(known.recorded ?? [], mapping, mistakes);
  const entries = joinRemoteFields(schema, mapping, recorded, mistakes);
  for (const { coordinate, field } of fieldsBelow(entries)) refuseRolesWithin(coordinate, field, roles, mistakes);
  mistakes.throwIfAny();
  attachScalars(schema);
  attachResolvers(schema, mapping);
  attachRemote(schema, entries, guards);
  if (known.rolesOf !== undefined) attachFieldRoles(schema, roles, known.rolesOf);
  attachGuards(schema, guards);
  return { ...contract, mapping, guards };
}
