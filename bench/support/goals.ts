import type { Estimate } from './statistics.ts';

/** The performance goals. A goal holds for the median. */
const GOALS = {
  smallToNginxNode: { what: '1 KiB / nginx auth_request + Node service', most: 1.1, unit: ' x' },
  smallToHpm: { what: '1 KiB / http-proxy-middleware on express, our gate', most: 0.35, unit: ' x' },
  smallToGo: { what: '1 KiB / Go ReverseProxy, no token', most: 0.95, unit: ' x' },
  largeToGo: { what: '64 KiB / Go ReverseProxy, no token', most: 1.1, unit: ' x' },
  largeToNginxNode: { what: '64 KiB / nginx auth_request + Node service', most: 1, unit: ' x' },
  pluginSmall: { what: '1 KiB, nginx + our decision / nginx auth_request + Node service', most: 1.25, unit: ' x' },
  pluginLarge: { what: '64 KiB, nginx + our decision / nginx auth_request + Node service', most: 1.1, unit: ' x' },
  pluginGate: { what: '1 KiB, the gate for a decision / for a request that it forwards', most: 0.8, unit: ' x' },
  pluginP99: {
    what: 'p99 of nginx + our decision above nginx auth_request + Node service, 2,000/s',
    most: 2,
    unit: ' ms',
  },
  p99AtRate: { what: 'p99 added to nginx proxy_pass at 2,000/s', most: 3, unit: ' ms' },
  p99AtHalf: { what: 'p99 added to nginx proxy_pass at half of our maximum', most: 4, unit: ' ms' },
  idleStream: { what: 'memory per idle event stream', most: 34, unit: ' KiB' },
  routes: { what: '1 KiB with 1,000 routes / with 10', most: 1.05, unit: ' x' },
  accountOne: { what: 'Account API, the whole gate / graphql-yoga, 1 node', most: 0.6, unit: ' x' },
  accountTwenty: { what: 'Account API, the whole gate / graphql-yoga, 20 nodes', most: 0.6, unit: ' x' },
  attack: { what: 'most expensive attack on the Account API, cold', most: 3, unit: ' ms' },
  mcpEndpoint: { what: 'tools/call: our endpoint / SDK as documented', most: 1.3, unit: ' x' },
  mcpGate: { what: 'tools/call: the whole gate / SDK whose tool calls the school', most: 1.2, unit: ' x' },
  refreshCpu: { what: 'CPU per refresh, ES256', most: 1200, unit: ' µs' },
  refreshRate: { what: 'refreshes per second on SQLite', least: 400, unit: '' },
  start: { what: 'time from spawn to ready / at the start of this work: first start', most: 0.6, unit: ' x' },
  restart: { what: 'time from spawn to ready / at the start of this work: later starts', most: 0.6, unit: ' x' },
  bundle: { what: 'time from spawn to ready: bundle / sources, first start of both', most: 0.45, unit: ' x' },
  eventCpu: { what: 'CPU per event of a stream', most: 30, unit: ' µs' },
  besideSpread: {
    what: 'p99 of plain requests beside all streams, events spread over the second',
    most: 25,
    unit: ' ms',
  },
  recovery: { what: 'recovery after all streams are reset', most: 15, unit: ' s' },
  lostTicks: { what: 'lost events', most: 0, unit: '' },
  failedRequests: { what: 'failed plain requests', most: 0, unit: '' },
  descriptors: { what: 'leaked descriptors', most: 0, unit: '' },
} as const satisfies Readonly<Record<string, { what: string; unit: string } & ({ most: number } | { least: number })>>;

type GoalName = keyof typeof GOALS;

/** What was measured for some of the goals. A goal with the value undefined was not measured in this run. */
export type Measurements = Partial<Record<GoalName, Estimate | number | undefined>>;

/** Rows of the table of goals at the end of a section: goal, bound, measured, met or missed. */
export function goalRows(measurements: Measurements): string[][] {
  return Object.entries(measurements).map(([name, measured]) => {
    const goal = GOALS[name as GoalName];
    const bound = 'most' in goal ? `≤ ${goal.most}${goal.unit}` : `≥ ${goal.least}${goal.unit}`;
    const value = typeof measured === 'number' ? measured : measured?.median;
    if (value === undefined || Number.isNaN(value)) return [goal.what, bound, 'not measured', ''];
    const interval =
      typeof measured !== 'object' || Number.isNaN(measured.low)
        ? ''
        : ` (${measured.low.toFixed(2)}–${measured.high.toFixed(2)})`;
    const met = 'most' in goal ? value <= goal.most : value >= goal.least;
    return [goal.what, bound, `${value.toFixed(2)}${goal.unit}${interval}`, met ? 'met' : '**missed**'];
  });
}
