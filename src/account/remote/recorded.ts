import { buildASTSchema, type GraphQLSchema } from 'graphql';
import type { Mapping } from '../connect/mapping.ts';
import { type Mistakes, placeOf } from '../connect/mistakes.ts';
import { checkSdl, parseSdl } from '../sdl.ts';
import type { AccountFiles, TextFile } from '../settings-files.ts';
import type { RecordedSchemas } from './check.ts';

/** The recorded schema of a GraphQL upstream. */
export type RecordedFile = AccountFiles['recorded'][number];

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

function readSchema(file: TextFile, mistakes: Mistakes): GraphQLSchema | undefined {
  const document = parseSdl(file, 'recorded schema', mistakes);
  if (document === undefined || !checkSdl(document, 'recorded schema', mistakes)) return undefined;
  return buildASTSchema(document, { assumeValidSDL: true });
}
