import { type GraphQLSchema, getNamedType } from 'graphql';

/**
 * The coordinates of the fields that come from the verified token. Mapping them would let an upstream decide who the
 * member is, and thereby whose data is requested from the other upstreams.
 */
export function ownFields(contract: GraphQLSchema): { readonly viewer: string; readonly id: string } {
  const query = contract.getQueryType();
  const viewer = query?.getFields().viewer;
  return {
    viewer: `${query?.name ?? 'Query'}.viewer`,
    id: `${viewer === undefined ? 'Viewer' : getNamedType(viewer.type).name}.id`,
  };
}
