import { type GraphQLSchema, getNamedType } from 'graphql';

/**
 * The fields the gateway fills from the verified token, by coordinate. A mapping of them would let an upstream say who
 * the member is, and with that whose data the other upstreams are asked for.
 */
export function ownFields(contract: GraphQLSchema): { readonly viewer: string; readonly id: string } {
  const query = contract.getQueryType();
  const viewer = query?.getFields().viewer;
  return {
    viewer: `${query?.name ?? 'Query'}.viewer`,
    id: `${viewer === undefined ? 'Viewer' : getNamedType(viewer.type).name}.id`,
  };
}
