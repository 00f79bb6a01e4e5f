import { type GraphQLSchema, getNamedType, isEnumType, isInputObjectType, isObjectType } from 'graphql';
import type { Boundary, FieldJoin } from './join.ts';

/** The parts of an upstream's schema that a mapping uses: coordinates of fields, and names of types. */
export interface UsedNames {
  readonly has: (coordinate: string) => boolean;
}

/** Collects the names of a schema that the mapped fields use. Enums and inputs count with all their members. */
export function usedNames(upstream: GraphQLSchema, boundaries: ReadonlyMap<string, Boundary>): UsedNames {
  const names = new Set<string>();
  const complete = new Set<string>();
  const visited = new Set<FieldJoin>();
  const field = (parent: unknown, name: string, join?: FieldJoin): void => {
    if (!isObjectType(parent) || (join !== undefined && visited.has(join))) return;
    if (join !== undefined) visited.add(join);
    names.add(parent.name).add(`${parent.name}.${name}`);
    const found = parent.getFields()[name];
    if (found === undefined) return;
    const given = getNamedType(found.type);
    if (isEnumType(given)) complete.add(given.name);
    for (const type of found.args.map((argument) => getNamedType(argument.type))) {
      if (isInputObjectType(type) || isEnumType(type)) complete.add(type.name);
    }
    const inner = join?.inner;
    if (inner === undefined) return;
    names.add(given.name);
    for (const [typeName, object] of inner.objects) {
      for (const below of object.fields.values()) field(upstream.getType(typeName), below.name, below);
    }
  };
  for (const { mapping, join, root, writes } of boundaries.values()) {
    const operations = writes ? upstream.getMutationType() : upstream.getQueryType();
    if (root === undefined) field(operations, join.name, join);
    else {
      field(operations, root.name);
      const found = operations?.getFields()[root.name];
      field(found && getNamedType(found.type), mapping.name ?? join.field.name, join);
    }
  }
  return {
    has: (coordinate) => names.has(coordinate) || complete.has(coordinate.split('.')[0] ?? ''),
  };
}
