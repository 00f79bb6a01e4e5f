import { readFileSync } from 'node:fs';

/**
 * How many connections each listener may have. Idle connections to one of them then leave file descriptors to the
 * others, and to the store, the upstreams and files.
 */
export interface ConnectionBounds {
  readonly public: number;
  /** The admin listener, and the one for probes. */
  readonly admin: number;
  /** Each listener for decisions. */
  readonly decisions: number;
}

/**
 * How many files the process may have open. Read once: Node raises its soft limit to the hard one when it starts.
 * Infinity where the operating system does not tell.
 */
export function descriptorLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * Divides the descriptors: at most an eighth for each listener for decisions, a thirty-second for the admin listener and
 * for that of probes, a sixteenth as reserve. The rest is for public connections, of which each may need a second one to
 * its upstream.
 */
export function connectionBounds(limit: number, most: number, hasDecisions: boolean): ConnectionBounds {
  const admin = share(limit / 32, 256);
  const decisions = share(limit / 8, most);
  const left = limit - share(limit / 16, 1024) - 2 * admin - (hasDecisions ? 2 * decisions : 0);
  return { public: share(left / 2, most), admin, decisions };
}

function share(part: number, most: number): number {
  return Math.max(1, Math.floor(Math.min(part, most)));
}
