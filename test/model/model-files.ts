import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Trace } from './trace.ts';
import { readTraces, writeTraces } from './trace-text.ts';

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

/** Where the traces are that are replayed. */
export const TRACES_FILE = new URL('traces.txt', import.meta.url);

/** The model and what names its events, without the promises. */
export const modelFiles = (): Readonly<Record<string, string>> =>
  Object.fromEntries(['tokens.als', 'behaviour.als', 'traces.als'].map((name) => [name, read(name)]));

export const promises = () => read('promises.als');

/** Tells whether the model was changed since. */
export function digestOfModel(): string {
  return createHash('sha256').update(Object.values(modelFiles()).join('\0')).digest('hex').slice(0, 16);
}

/** What the file says of these traces, if they are of the present model. */
export function tracesText(traces: readonly Trace[]): string {
  const head = 'Traces of the model, which replay/replay.test.ts replays. trace-text.ts says how to read them.';
  return `${head}\nmodel ${digestOfModel()}\n\n${writeTraces(traces)}`;
}

/** The traces, and the digest of the model that they were written from. */
export function committedTraces() {
  const text = readFileSync(TRACES_FILE, 'utf8');
  return { text, traces: readTraces(text), digest: /^model (\w+)$/m.exec(text)?.[1] };
}
