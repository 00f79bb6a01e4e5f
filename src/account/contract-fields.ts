import {
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  resolveSchemaCoordinate,
} from 'graphql';

/** A field of the contract, whose resolver gets an Operation. */
export type ContractField = ReturnType<GraphQLObjectType['getFields']>[string];

/** A field of an object type by its coordinate, such as `Viewer.email`. Throws if there is none. */
export function fieldAt(
  schema: GraphQLSchema,
  coordinate: string,
): { readonly type: GraphQLObjectType; readonly field: ContractField } {
  const found = resolveSchemaCoordinate(schema, coordinate);
  if (found?.kind !== 'Field' || !isObjectType(found.type)) throw new Error(`no field ${coordinate}`);
  return { type: found.type, field: found.field };
}

/** The name of the member's type. */
export function viewerTypeOf(contract: GraphQLSchema): string {
  const viewer = contract.getQueryType()?.getFields().viewer;
  return viewer === undefined ? 'Viewer' : getNamedType(viewer.type).name;
}

/**
 * The coordinates of the fields that come from the verified token. Mapping them would let an upstream decide who the
 * member is, and thereby whose data is requested from the other upstreams.
 */
export function tokenFields(contract: GraphQLSchema): readonly [viewer: string, id: string] {
  return [`${contract.getQueryType()?.name ?? 'Query'}.viewer`, `${viewerTypeOf(contract)}.id`];
}
