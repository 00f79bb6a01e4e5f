import { defaultFieldResolver, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import type { AccountOperation } from '../connect/operation.ts';
import { fieldAt } from '../contract-fields.ts';
import type { Guards } from '../scopes.ts';
import { createGatherer, type Gather } from './gatherer.ts';
import type { Boundary, ObjectJoin, TypeJoin } from './join.ts';
import { planCache } from './plans.ts';
import { RemoteObject } from './remote-object.ts';
import { refuseWindow } from './windowed.ts';

type Resolver = GraphQLFieldResolver<unknown, AccountOperation, Record<string, unknown>>;

/** Attaches resolvers for the mapped fields and for the types below them. Must run after `attachResolvers`. */
export function attachRemote(contract: GraphQLSchema, boundaries: ReadonlyMap<string, Boundary>, guards: Guards): void {
  const planOf = planCache(guards);
  const gatherers = new WeakMap<AccountOperation, Gather>();
  const gathererOf = (operation: AccountOperation): Gather => {
    const gatherer = gatherers.get(operation) ?? createGatherer(operation, planOf);
    gatherers.set(operation, gatherer);
    return gatherer;
  };
  const visited = new Set<ObjectJoin>();
  const readable = new Set<string>();
  for (const [coordinate, boundary] of boundaries) {
    const resolve: Resolver = async (_source, args, operation, info) => {
      refuseWindow(args, operation.largestWindow);
      return await gathererOf(operation)(boundary, info);
    };
    fieldAt(contract, coordinate).field.resolve = resolve;
    for (const { fields } of objectsOf(boundary.join.inner, visited)) {
      for (const { coordinate: below, field } of fields.values()) {
        if (readable.has(below)) continue;
        readable.add(below);
        const otherwise = field.resolve ?? defaultFieldResolver;
        const read: Resolver = (source, args, operation, info) => {
          // Objects of the same type can also come from a REST service.
          if (!(source instanceof RemoteObject)) return otherwise(source, args, operation, info);
          refuseWindow(args, operation.largestWindow);
          return source.get(String(info.path.key));
        };
        field.resolve = read;
      }
    }
  }
}

/** All object types reachable below a field. */
function* objectsOf(join: TypeJoin | undefined, visited: Set<ObjectJoin>): Generator<ObjectJoin> {
  if (join === undefined) return;
  for (const object of join.objects.values()) {
    if (visited.has(object)) continue;
    visited.add(object);
    yield object;
    for (const { inner } of object.fields.values()) yield* objectsOf(inner, visited);
  }
}
