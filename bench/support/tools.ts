import { existsSync } from 'node:fs';
import { REDIS } from '../../test/support/redis.ts';

/** Programs that the benches run: where they are looked for, and the package of Debian that has them. */
const TOOLS = {
  wrk: { places: ['/usr/bin/wrk', '/usr/local/bin/wrk'], debian: 'wrk' },
  nginx: { places: ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'], debian: 'nginx-light' },
  go: { places: [process.env.GO, '/usr/local/go/bin/go', '/usr/bin/go'], debian: 'golang-go' },
  'redis-server': { places: [REDIS], debian: 'redis-server' },
  strace: { places: ['/usr/bin/strace', '/usr/local/bin/strace'], debian: 'strace' },
  taskset: { places: ['/usr/bin/taskset', '/bin/taskset'], debian: 'util-linux' },
} as const;

export type Tool = keyof typeof TOOLS;

/** Tells how to install those that are missing; undefined if none is. */
export function missingTools(names: Iterable<Tool>, find = findTool): string | undefined {
  const missing = [...new Set(names)].filter((name) => find(name) === undefined);
  if (missing.length === 0) return undefined;
  const packages = missing.map((name) => TOOLS[name].debian);
  return `not installed: ${missing.join(', ')}. On Debian: apt-get install --no-install-recommends ${packages.join(' ')}`;
}

/** The path of a tool. Throws if it is not installed. */
export function toolPath(name: Tool): string {
  const path = findTool(name);
  if (path === undefined) throw new Error(missingTools([name]));
  return path;
}

function findTool(name: Tool): string | undefined {
  return TOOLS[name].places.find((path) => path !== undefined && existsSync(path));
}
