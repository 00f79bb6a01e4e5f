import { type DocumentNode, GraphQLError, parse, Source } from 'graphql';
import { validateSDL } from 'graphql/validation/validate.js';
import { type Mistakes, placeOf } from './connect/mistakes.ts';
import type { TextFile } from './settings-files.ts';

/** Parses a file. Its nodes keep their file, line and column. Returns undefined after adding a syntax error to `mistakes`. */
export function parseSdl({ file, text }: TextFile, what: string, mistakes: Mistakes): DocumentNode | undefined {
  try {
    return parse(new Source(text, file));
  } catch (thrown) {
    if (!(thrown instanceof GraphQLError)) throw thrown;
    mistakes.add({ file, line: 1, column: 1, ...thrown.locations?.[0] }, what, thrown.message);
    return undefined;
  }
}

/**
 * Whether a document follows the rules of the specification. Each mistake is added to `mistakes` at its place, which
 * buildASTSchema would not report.
 */
export function checkSdl(document: DocumentNode, what: string, mistakes: Mistakes): boolean {
  const errors = validateSDL(document);
  for (const { message, nodes = [] } of errors) {
    const [other, node = other] = nodes;
    const { file, line, column } = placeOf(other);
    mistakes.add(
      placeOf(node),
      what,
      node === other ? message : `${message} The other is at ${file}:${line}:${column}.`,
    );
  }
  return errors.length === 0;
}
