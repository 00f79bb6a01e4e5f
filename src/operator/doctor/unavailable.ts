import { networkError } from '../connect/network-error.ts';

/** Thrown when something cannot be examined. The check is skipped with this message. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** Thrown when a server did not answer, or not in HTTP. The message is worded for the operator. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** Limits of one exchange with a server. */
export interface ExchangeLimits {
  /** Aborts everything. */
  readonly signal: AbortSignal;
  /** Milliseconds for one request, from the first byte sent to the last byte read. */
  readonly patience: number;
}

/** For what the time for the audit did not allow. */
export function timeOver(): Unavailable {
  return new Unavailable('the time for the audit was over');
}

/** Runs an exchange within its limits. Throws NoAnswer, and Unavailable when the time for everything is over. */
export async function within<T>(
  { signal, patience }: ExchangeLimits,
  work: (end: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = AbortSignal.timeout(patience);
  try {
    return await work(AbortSignal.any([signal, late]));
  } catch (thrown) {
    if (thrown instanceof Unavailable) throw thrown;
    if (signal.aborted) throw timeOver();
    const words = late.aborted ? `no complete response within ${patience / 1000} seconds` : wordsFor(thrown);
    throw new NoAnswer(words, { cause: thrown });
  }
}

/** Why an exchange failed, worded for the operator. */
export function wordsFor(thrown: unknown): string {
  const { code, message } = Object(thrown) as { code?: unknown; message?: unknown };
  const known = networkError(thrown);
  if (known !== undefined) return known;
  const name = String(code ?? '');
  if (name.startsWith('HPE_')) return `the response is not HTTP (${name})`;
  if (/^(Z_|ERR__|ZSTD_)/.test(name)) return 'the response cannot be decompressed';
  return String(message ?? thrown);
}

/** The value; undefined when an error of `kind` was thrown. */
export function orNone<T>(
  value: Promise<T>,
  kind: typeof NoAnswer | typeof Unavailable = NoAnswer,
): Promise<T | undefined> {
  return value.catch((thrown: unknown) => {
    if (thrown instanceof kind) return undefined;
    throw thrown;
  });
}
