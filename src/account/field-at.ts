import { type GraphQLObjectType, type GraphQLSchema, isObjectType } from 'graphql';

/** A field of the contract, whose resolver gets an Operation. */
export type ContractField = ReturnType<GraphQLObjectType['getFields']>[string];

/** A field of an object type by its coordinate, such as `Viewer.email`. Throws if there is none. */
export function fieldAt(
  schema: GraphQLSchema,
  coordinate: string,
): { readonly type: GraphQLObjectType; readonly field: ContractField } {
  const [typeName = '', fieldName = ''] = coordinate.split('.');
  const type = schema.getType(typeName);
  const field = isObjectType(type) ? type.getFields()[fieldName] : undefined;
  if (!isObjectType(type) || field === undefined) throw new Error(`no field ${coordinate}`);
  return { type, field };
}
