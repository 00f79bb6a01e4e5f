import type { TypeMapping } from './mapping.ts';
import type { Selection } from './syntax.ts';

/** The names a selection of an object gives. */
export function memberNames(selection: Selection): ReadonlySet<string> {
  const members = selection.kind === 'members' ? selection.members : (selection.chains[0]?.members ?? []);
  return new Set(members.map(({ name }) => name));
}

/** The key that a type's batch needs to give this field; undefined when it does not give it. */
export function givenByBatch(batch: TypeMapping | undefined, name: string): string | undefined {
  if (batch === undefined || name === batch.key) return undefined;
  return memberNames(batch.connector.selection).has(name) ? batch.key : undefined;
}
