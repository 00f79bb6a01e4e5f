import type { Tool } from './support/tools.ts';

/** A bench: `npm run bench -- NAME`. */
export interface Bench {
  /** Of its section in RESULTS.md. */
  readonly title: string;
  /** In this folder. */
  readonly file: string;
  /** Slices of about a second that each subject is measured in. */
  readonly rounds: number;
  /** What it may take with these rounds on two cores. Undefined: `npm run bench` leaves it out. */
  readonly minutes?: number;
  readonly needs: readonly Tool[];
  /** Options of Node. */
  readonly node?: readonly string[];
}

/** The benches in the order in which `npm run bench` runs them. Together they may take an hour. */
export const BENCHES = {
  start: { title: 'Start', file: 'process/start.ts', rounds: 12, minutes: 3, needs: [] },
  console: { title: 'Console', file: 'operator/console/pages.ts', rounds: 20, minutes: 1, needs: [] },
  account: { title: 'Account API', file: 'account/account.ts', rounds: 14, minutes: 4, needs: [] },
  mcp: { title: 'MCP', file: 'mcp/mcp.ts', rounds: 12, minutes: 7, needs: [] },
  tokens: { title: 'Tokens', file: 'resource-server/tokens.ts', rounds: 12, minutes: 3, needs: [] },
  stores: {
    title: 'Stores',
    file: 'resource-server/stores.ts',
    rounds: 6,
    minutes: 8,
    needs: ['redis-server'],
    // The memory store of a million connected apps.
    node: ['--max-old-space-size=6144'],
  },
  capacity: {
    title: 'Capacity',
    file: 'capacity/capacity.ts',
    rounds: 10,
    minutes: 6,
    needs: ['wrk', 'nginx', 'redis-server', 'strace', 'taskset'],
  },
  streams: { title: 'Streams', file: 'streams/streams.ts', rounds: 12, minutes: 5, needs: ['nginx', 'taskset'] },
  proxy: {
    title: 'Proxy',
    file: 'upstream/proxy.ts',
    rounds: 12,
    minutes: 23,
    needs: ['wrk', 'nginx', 'go', 'redis-server', 'taskset'],
  },
  compare: { title: 'Compare', file: 'compare.ts', rounds: 12, needs: ['wrk', 'nginx', 'taskset'] },
  // Publishes when it is named: its starts take a quarter of an hour.
  schools: { title: 'Many schools', file: 'process/schools.ts', rounds: 12, needs: [] },
  refreshes: { title: 'Refreshes', file: 'resource-server/refreshes.ts', rounds: 7, needs: [] },
  clients: { title: 'Clients', file: 'upstream/clients.ts', rounds: 20, needs: ['wrk', 'nginx', 'taskset'] },
} as const satisfies Readonly<Record<string, Bench>>;
