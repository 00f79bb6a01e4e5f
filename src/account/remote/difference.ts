import { BreakingChangeType, DangerousChangeType, findSchemaChanges, type GraphQLSchema } from 'graphql';

const BREAKING: ReadonlySet<string> = new Set(Object.values(BreakingChangeType));
const DANGEROUS: ReadonlySet<string> = new Set(Object.values(DangerousChangeType));

/** The changes to an upstream's schema since it was recorded, one line each: the most severe first. */
export function differences(recorded: GraphQLSchema, live: GraphQLSchema): readonly string[] {
  const changes = Map.groupBy(findSchemaChanges(recorded, live), ({ type }) =>
    BREAKING.has(type) ? 'breaking' : DANGEROUS.has(type) ? 'dangerous' : 'safe',
  );
  return (['breaking', 'dangerous', 'safe'] as const).flatMap((severity) =>
    (changes.get(severity) ?? []).map(({ description }) => `${severity}: ${description}`).sort(),
  );
}
