import type { TypeMapping } from './mapping.ts';
import { membersOf, type Selection } from './syntax.ts';

/** The property names that an object selection returns. */
export function memberNames(selection: Selection): ReadonlySet<string> {
  return new Set((membersOf(selection) ?? []).map(({ name }) => name));
}

/** The key of the type's batch if the batch provides this field, otherwise undefined. */
export function givenByBatch(batch: TypeMapping | undefined, name: string): string | undefined {
  if (batch === undefined || name === batch.key) return undefined;
  return memberNames(batch.connector.selection).has(name) ? batch.key : undefined;
}
