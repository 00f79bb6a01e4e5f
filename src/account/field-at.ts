import { type GraphQLObjectType, type GraphQLSchema, isObjectType, resolveSchemaCoordinate } from 'graphql';

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
