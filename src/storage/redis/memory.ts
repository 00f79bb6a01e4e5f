/**
 * The kind of write. As memory fills up, strangers' entries are refused first, then everything ordinary; the rest is
 * reserved for vital writes.
 */
type Writer = 'stranger' | 'ordinary' | 'vital';

/** The fraction of `maxmemory` that may be in use. Only Redis itself refuses vital writes, once no memory is left. */
const MOST = { stranger: 0.9, ordinary: 0.95 } as const;

/** Milliseconds for which Redis' memory figures are reused. */
const BELIEVED = 1000;

interface Node {
  info(section: string): Promise<string>;
}

/** What INFO reports, by name; nothing if the user may not ask. */
export async function infoOf(node: Node | undefined, section: string) {
  const text = (await node?.info(section).catch(() => '')) ?? '';
  return new Map([...text.matchAll(/^([^:\r\n]+):([^\r\n]*)/gm)].map(([, name = '', value = '']) => [name, value]));
}

/**
 * Keeps part of the memory free on a Redis that has a `maxmemory`. A Redis that reports none is assumed to have enough.
 */
export function redisMemory() {
  let asked = Number.NEGATIVE_INFINITY;
  let used = 0;

  return {
    /** Throws if Redis has no memory left for this kind of write. */
    async assertRoom(nodeOf: () => Promise<Node | undefined>, writer: Writer): Promise<void> {
      if (writer === 'vital') return;
      const now = performance.now();
      if (now - asked >= BELIEVED) {
        asked = now;
        const info = await infoOf(await nodeOf(), 'memory');
        const most = Number(info.get('maxmemory') ?? 0);
        used = most === 0 ? 0 : Number(info.get('used_memory') ?? 0) / most;
      }
      if (used > MOST[writer])
        throw new Error('Redis is nearly out of memory: writes without enough memory are refused');
    },
  };
}
