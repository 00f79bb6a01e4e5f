import { isObject } from '../http/json-object.ts';
import type { OnLine } from '../upstream/body-lines.ts';
import { cleanValue } from './cleaning.ts';

/** The media type of an upstream's answer in lines of JSON: progress, and the result as the last line. */
export const LINES = 'application/x-ndjson';

/** A line about progress, and what clients are told (MCP, progress). */
interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** What a client is sent, with the text cleaned. Rejects if the client has left. */
type Notify = (progress: Progress) => Promise<void>;

/** Progress of one call, on its way to the client. */
export interface ProgressRelay {
  readonly onLine: OnLine;
  /** Resolves when everything has been sent, so that the result comes last. Never rejects. */
  readonly sent: () => Promise<void>;
}

const NAMES = new Set(['progress', 'total', 'message']);
const LONGEST_MESSAGE = 300;
/** Notifications at once, and then each second: as many as a person can read. */
const MOST_AT_ONCE = 8;
const PER_SECOND = 4;

/** A value that is progress: it has no other members, so that a result with a member `progress` is none. */
export function progressOf(value: unknown): Progress | undefined {
  if (!isObject(value) || Object.keys(value).some((name) => !NAMES.has(name))) return undefined;
  const { progress, total, message } = value;
  if (!Number.isFinite(progress) || (total !== undefined && !Number.isFinite(total))) return undefined;
  return {
    progress: progress as number,
    ...(total === undefined ? {} : { total: total as number }),
    ...(typeof message === 'string' ? { message } : {}),
  };
}

/**
 * Relays the progress of one call, in order. Left out are lines that come too fast, and those whose `progress` does not
 * increase, which the protocol forbids.
 * @param now monotonic clock, in milliseconds
 */
export function relayProgress(notify: Notify, now: () => number): ProgressRelay {
  let last = Number.NEGATIVE_INFINITY;
  let left = MOST_AT_ONCE;
  let filled = now();
  let sent = Promise.resolve();
  const send = async ({ message, ...progress }: Progress): Promise<void> => {
    const text = message === undefined ? {} : { message: String(await cleanValue(message, LONGEST_MESSAGE)) };
    await notify({ ...progress, ...text });
  };
  return {
    onLine(line) {
      const progress = progressIn(line);
      if (progress === undefined) return false;
      const at = now();
      left = Math.min(MOST_AT_ONCE, left + ((at - filled) / 1000) * PER_SECOND);
      filled = at;
      if (progress.progress > last && left >= 1) {
        left -= 1;
        last = progress.progress;
        // A client that has left gets no result either.
        sent = sent.then(() => send(progress)).catch(() => undefined);
      }
      return true;
    },
    sent: () => sent,
  };
}

/** A line is at most 4 KiB, which bounds what is parsed. */
function progressIn(line: string): Progress | undefined {
  try {
    return progressOf(JSON.parse(line));
  } catch {
    return undefined;
  }
}
