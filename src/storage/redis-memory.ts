/** Who writes: a stranger's entries are refused first, then everything ordinary; the rest is kept for what is vital. */
type Writer = 'stranger' | 'ordinary' | 'vital';

/** The part of `maxmemory` that may be in use. What is vital is refused by Redis itself, when there is nothing left. */
const MOST = { stranger: 0.9, ordinary: 0.95 } as const;

/** Milliseconds for which what Redis says of its memory is believed. */
const BELIEVED = 1000;

interface Node {
  info(section: string): Promise<string>;
}

interface RedisMemory {
  /** Throws when Redis has no memory left for this writer. */
  assertRoom(nodeOf: () => Promise<Node | undefined>, writer: Writer): Promise<void>;
}

/** Keeps some of the memory of a Redis that has a `maxmemory`. One that does not say how much it has is taken to have enough. */
export function redisMemory(): RedisMemory {
  let asked = Number.NEGATIVE_INFINITY;
  let used = 0;

  return {
    async assertRoom(nodeOf, writer) {
      if (writer === 'vital') return;
      const now = performance.now();
      if (now - asked >= BELIEVED) {
        asked = now;
        const info = (await (await nodeOf())?.info('memory').catch(() => '')) ?? '';
        const bytes = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
        const most = bytes('maxmemory');
        used = most === 0 ? 0 : bytes('used_memory') / most;
      }
      if (used > MOST[writer])
        throw new Error('Redis is nearly out of memory: writes that it has no room for are refused');
    },
  };
}
