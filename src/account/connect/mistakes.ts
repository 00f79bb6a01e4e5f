import type { ASTNode, StringValueNode } from 'graphql';
import { counted } from '../../http/amounts.ts';

/** A position in a file. Lines and columns count from 1. */
export interface FilePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A mistake in the contract or a mapping, with its place and schema coordinate. */
export interface Mistake extends FilePosition {
  readonly coordinate: string;
  readonly message: string;
}

function formatMistake({ file, line, column, coordinate, message }: Mistake): string {
  return `${file}:${line}:${column} ${coordinate}: ${message}`;
}

/** Thrown at start with every mistake, so that the operator can fix a mapping in one go. */
export class MappingError extends Error {
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    const lines = mistakes.map((mistake) => `\n  ${formatMistake(mistake)}`);
    super(`The Account API's mapping has ${counted(mistakes.length, 'mistake')}:${lines.join('')}`);
    this.name = 'MappingError';
    this.mistakes = mistakes;
  }
}

/** Collects mistakes while the mapping is read. */
export class Mistakes {
  readonly #found: Mistake[] = [];

  add(place: FilePosition, coordinate: string, message: string): void {
    this.#found.push({ ...place, coordinate, message });
  }

  /** @throws {MappingError} with all mistakes in file order, if there are any */
  throwIfAny(): void {
    if (this.#found.length > 0) throw new MappingError(this.#sorted());
  }

  lines(): readonly string[] {
    return this.#sorted().map(formatMistake);
  }

  #sorted(): readonly Mistake[] {
    return this.#found.toSorted((a, b) => a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column);
  }
}

/** The place of a node of a parsed file. */
export function placeOf(node: ASTNode | null | undefined): FilePosition {
  const location = node?.loc;
  if (location === undefined) return { file: 'unknown', line: 1, column: 1 };
  return { file: location.source.name, line: location.startToken.line, column: location.startToken.column };
}

/**
 * The place of a character in a string literal, from an offset into its value. Accounts for the indentation removed
 * from a block string, but not for escapes in a plain string: after one, the column is slightly too low.
 */
export function placeInString(node: StringValueNode, offset: number): FilePosition {
  const start = placeOf(node);
  if (node.block !== true || node.loc === undefined) return { ...start, column: start.column + 1 + offset };
  const raw = node.loc.source.body.slice(node.loc.start + 3, node.loc.end - 3).split(/\r\n|[\n\r]/);
  const before = node.value.slice(0, offset).split('\n');
  const index = before.length - 1;
  const firstLine = raw.findIndex((line) => line.trim() !== '') + index;
  const removed = (raw[firstLine]?.length ?? 0) - (node.value.split('\n')[index]?.length ?? 0);
  const column = Math.max(0, removed) + (before[index]?.length ?? 0);
  return { ...start, line: start.line + firstLine, column: firstLine === 0 ? start.column + 3 + column : column + 1 };
}

/** The place of a key in a JSON text, found by text search; the beginning of the text when it is not found. */
export function placeOfKey(file: string, text: string, key: string): FilePosition {
  const before = text.slice(0, Math.max(0, key === '' ? 0 : text.indexOf(JSON.stringify(key)))).split('\n');
  return { file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
