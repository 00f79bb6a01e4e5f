import { isObject } from '../http/json-object.ts';
import { LONGEST_LINE } from './body-lines.ts';

/** The media type of an upstream's answer in lines of JSON: progress, and the result as the last line. */
export const LINES = 'application/x-ndjson';

/** A line about progress, and what clients are told (MCP, progress). */
export interface ProgressLine {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

const NAMES = new Set(['progress', 'total', 'message']);

/** Reads a line of progress: it has no other members, so that a result with a member `progress` is none. */
export function progressIn(line: string): ProgressLine | undefined {
  if (line.length > LONGEST_LINE) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isObject(value) || Object.keys(value).some((name) => !NAMES.has(name))) return undefined;
  const { progress, total, message } = value;
  if (!Number.isFinite(progress) || (total !== undefined && !Number.isFinite(total))) return undefined;
  return {
    progress: progress as number,
    ...(total === undefined ? {} : { total: total as number }),
    ...(typeof message === 'string' ? { message } : {}),
  };
}

/** The result in such an answer. Throws if there is only progress. */
export function resultLine(text: string): string {
  const trimmed = text.trimEnd();
  const last = trimmed.slice(trimmed.lastIndexOf('\n') + 1);
  if (progressIn(last) !== undefined) throw new Error('The upstream ended before its result.');
  return last;
}
