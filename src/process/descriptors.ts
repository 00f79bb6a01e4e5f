import { readFileSync } from 'node:fs';

/**
 * How many files the process may have open. Read once: Node raises its soft limit to the hard one when it starts.
 * Infinity where the operating system does not tell.
 */
export function descriptorLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(soft ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * How many connections each listener may have, so that idle ones leave descriptors to the others, and to the store, the
 * upstreams and files. At most an eighth of `limit` for the listener for decisions, a thirty-second for the admin
 * listener and for that of probes, a sixteenth as reserve. The rest is for public connections, of which each may need a
 * second descriptor for its upstream.
 */
export function connectionBounds(limit: number, most: number, hasDecisions: boolean) {
  const share = (part: number, atMost: number) => Math.max(1, Math.floor(Math.min(part, atMost)));
  const [admin, decisions] = [share(limit / 32, 256), share(limit / 8, most)];
  const left = limit - share(limit / 16, 1024) - 2 * admin - (hasDecisions ? decisions : 0);
  return { public: share(left / 2, most), admin, decisions };
}
