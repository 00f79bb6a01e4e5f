import { type GraphQLSchema, getNamedType, isEnumType, isInputObjectType, isObjectType } from 'graphql';
import type { Boundary, FieldJoin } from './join.ts';

/** The parts of an upstream's schema that a mapping uses: coordinates of fields, and names of types. */
export interface UsedNames {
  readonly has: (coordinate: string) => boolean;
}

/** Collects the names of a schema that the mapped fields use. Enums and inputs count with all their members. */
export function usedNames(upstream: GraphQLSchema, boundaries: ReadonlyMap<string, Boundary>): UsedNames {
  const names = new Set<string>();
  const whole = new Set<string>();
  const met = new Set<FieldJoin>();
  const field = (parent: unknown, name: string, join?: FieldJoin): void => {
    if (!isObjectType(parent) || (join !== undefined && met.has(join))) return;
    if (join !== undefined) met.add(join);
    names.add(parent.name).add(`${parent.name}.${name}`);
    const found = parent.getFields()[name];
    if (found === undefined) return;
    const given = getNamedType(found.type);
    if (isEnumType(given)) whole.add(given.name);
    for (const { type } of found.args)
      if (isInputObjectType(getNamedType(type)) || isEnumType(getNamedType(type))) {
        whole.add(getNamedType(type).name);
      }
    const inner = join?.inner;
    if (inner === undefined) return;
    names.add(given.name);
    const objects = inner.abstract ? [...inner.objects] : [[given.name, inner.object] as const];
    for (const [typeName, object] of objects) {
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
    has: (coordinate) => names.has(coordinate) || whole.has(coordinate.split('.')[0] ?? ''),
  };
}
