import { BreakingChangeType, DangerousChangeType, findSchemaChanges, type GraphQLSchema } from 'graphql';
import type { UsedNames } from './used-names.ts';

/** One change to an upstream's schema since it was recorded. */
export interface Difference {
  readonly severity: 'breaking' | 'dangerous' | 'safe';
  /** Whether the mapping uses the changed part. */
  readonly used: boolean;
  readonly description: string;
}

const BREAKING: ReadonlySet<string> = new Set(Object.values(BreakingChangeType));
const DANGEROUS: ReadonlySet<string> = new Set(Object.values(DangerousChangeType));
const ORDER = ['breaking', 'dangerous', 'safe'] as const;

/** The differences between two schemas: those that the mapping uses first, and among them the most severe first. */
export function differences(recorded: GraphQLSchema, live: GraphQLSchema, used: UsedNames): readonly Difference[] {
  const found = findSchemaChanges(recorded, live).map(({ type, description }): Difference => {
    const severity = BREAKING.has(type) ? 'breaking' : DANGEROUS.has(type) ? 'dangerous' : 'safe';
    const names = description.match(/[A-Za-z_]\w*(?:\.\w+)*/g) ?? [];
    return { severity, used: names.some((name) => used.has(name)), description };
  });
  const rank = ({ used: isUsed, severity }: Difference) => (isUsed ? 0 : ORDER.length) + ORDER.indexOf(severity);
  return found.toSorted((a, b) => rank(a) - rank(b) || a.description.localeCompare(b.description));
}
