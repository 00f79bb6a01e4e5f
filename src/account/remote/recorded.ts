import { buildSchema, GraphQLError, type GraphQLSchema, Source } from 'graphql';
import type { Mapping, MappingFile } from '../connect/mapping.ts';
import { type Mistakes, placeOf } from '../connect/mistakes.ts';
import type { RecordedSchemas } from './check.ts';

/** The recorded schema of a GraphQL upstream. `text` is undefined when it has not been recorded yet. */
export interface RecordedFile {
  readonly upstream: string;
  readonly file: string;
  readonly text: string | undefined;
}

/** Reads the recorded schemas that the mapping needs. Returns those that could be read; mistakes are added to the list. */
export function readRecorded(files: readonly RecordedFile[], mapping: Mapping, mistakes: Mistakes): RecordedSchemas {
  const schemas = new Map<string, GraphQLSchema>();
  // For each source its first field, at which problems with the source are reported.
  const needed = new Map([...mapping.remote.fields.values()].toReversed().map((field) => [field.source, field]));
  for (const [source, { node, coordinate }] of needed) {
    const recorded = files.find(({ upstream }) => upstream === source);
    if (recorded?.text === undefined) {
      const why =
        recorded === undefined
          ? `account.upstreamSchemas has no entry for "${source}"`
          : `${recorded.file} does not exist yet: run coursegate account pull`;
      mistakes.add(placeOf(node), coordinate, why);
      continue;
    }
    const schema = readSchema({ file: recorded.file, text: recorded.text }, mistakes);
    if (schema !== undefined) schemas.set(source, schema);
  }
  return schemas;
}

function readSchema({ file, text }: MappingFile, mistakes: Mistakes): GraphQLSchema | undefined {
  try {
    return buildSchema(new Source(text, file));
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    const place = thrown instanceof GraphQLError ? thrown.locations?.[0] : undefined;
    mistakes.add({ file, line: place?.line ?? 1, column: place?.column ?? 1 }, 'recorded schema', thrown.message);
    return undefined;
  }
}
