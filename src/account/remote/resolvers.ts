import { defaultFieldResolver, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import type { AccountOperation } from '../connect/operation.ts';
import { refuseWindow } from '../connect/window.ts';
import { fieldAt } from '../contract-fields.ts';
import type { Guards } from '../scopes.ts';
import { createGatherer, type Gather } from './gatherer.ts';
import type { FieldJoin, ObjectJoin, RemoteEntry, TypeJoin } from './join.ts';
import { planCache } from './plans.ts';
import { RemoteObject } from './remote-object.ts';

type Resolver = GraphQLFieldResolver<unknown, AccountOperation, Record<string, unknown>>;

/**
 * Attaches resolvers for the fields with @graphql, which request them, and for the fields of all objects below them,
 * which read what has been requested. Must run after `attachResolvers`.
 */
export function attachRemote(contract: GraphQLSchema, entries: ReadonlyMap<string, RemoteEntry>, guards: Guards): void {
  const planOf = planCache(guards);
  const gatherers = new WeakMap<AccountOperation, Gather>();
  const gathererOf = (operation: AccountOperation): Gather => {
    const gatherer = gatherers.get(operation) ?? createGatherer(operation, planOf);
    gatherers.set(operation, gatherer);
    return gatherer;
  };
  for (const [coordinate, entry] of entries) {
    const request: Resolver = async (_source, args, operation, info) => {
      refuseWindow(args, operation.largestWindow);
      return await gathererOf(operation)(entry, info);
    };
    fieldAt(contract, coordinate).field.resolve = request;
  }
  for (const { field } of fieldsBelow(entries)) field.resolve = reader(field.resolve ?? defaultFieldResolver);
}

/** The fields of all objects below the fields with @graphql, each once. They come with their object. */
export function fieldsBelow(entries: ReadonlyMap<string, RemoteEntry>): readonly FieldJoin[] {
  const visited = new Set<ObjectJoin>();
  const below = [...entries.values()].flatMap(({ join }) =>
    [...objectsOf(join.inner, visited)].flatMap(({ fields }) => [...fields.values()]),
  );
  return [...new Map(below.map((join) => [join.coordinate, join])).values()];
}

/** Reads a field that has been requested with its object. Objects of the same type can also come from a REST service. */
function reader(otherwise: Resolver): Resolver {
  return (source, args, operation, info) => {
    if (!(source instanceof RemoteObject)) return otherwise(source, args, operation, info);
    refuseWindow(args, operation.largestWindow);
    return source.get(String(info.path.key));
  };
}

/** All object types reachable below a field, without those that have been visited. */
function* objectsOf(join: TypeJoin | undefined, visited: Set<ObjectJoin>): Generator<ObjectJoin> {
  if (join === undefined) return;
  for (const object of join.objects.values()) {
    if (visited.has(object)) continue;
    visited.add(object);
    yield object;
    for (const { inner } of object.fields.values()) yield* objectsOf(inner, visited);
  }
}
