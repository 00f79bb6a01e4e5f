import budgets from '../budgets.json' with { type: 'json' };
import type { Estimate } from './statistics.ts';

interface Bound {
  readonly most?: number;
  readonly least?: number;
}

/** A figure that has to stay within a bound. */
export interface Goal extends Bound {
  readonly what: string;
  readonly unit: string;
  /** The measurement whose subject was started twice, as its bench names it. Undefined: the figure is a single value. */
  readonly pair?: string;
}

const SMALL = 'coursegate: 1 KiB';
const LARGE = 'coursegate: 64 KiB';
const AT_RATE = 'coursegate: 2,000/s';
const CALL = 'the whole gate: tools/call, 2026-07-28';
const START = 'first start: time';

/** The performance goals, by the bench that measures them. */
export const GOALS = {
  start: { what: 'time from spawn to ready / at the base: sources, first start', most: 0.6, unit: ' x', pair: START },
  restart: {
    what: 'time from spawn to ready / at the base: sources, later starts',
    most: 0.6,
    unit: ' x',
    pair: START,
  },
  bundle: { what: budgets.bundleStart.what, most: budgets.bundleStart.most, unit: ' ms', pair: START },
  consolePage: { what: 'the slowest page of the console with 100,000 grants', most: 200, unit: ' ms' },
  accountOne: {
    what: 'Account API, the whole gate / graphql-yoga, 1 node',
    most: 0.6,
    unit: ' x',
    pair: 'the whole gate: 1 node(s)',
  },
  accountTwenty: {
    what: 'Account API, the whole gate / graphql-yoga, 20 nodes',
    most: 0.6,
    unit: ' x',
    pair: 'the whole gate: 20 node(s)',
  },
  attack: { what: 'most expensive attack on the Account API, cold', most: 3, unit: ' ms' },
  mcpEndpoint: { what: 'tools/call: our endpoint / SDK as documented', most: 1.3, unit: ' x', pair: CALL },
  mcpGate: { what: 'tools/call: the whole gate / SDK whose tool calls the school', most: 1.2, unit: ' x', pair: CALL },
  refreshCpu: { what: 'CPU per refresh, ES256', most: 1.2, unit: ' ms', pair: 'ES256: refreshes' },
  refreshRate: { what: 'refreshes on SQLite', least: 400, unit: ' per s', pair: 'ES256: refreshes' },
  signInCpu: { what: 'CPU per sign-in with consent, ES256', most: 20, unit: ' ms', pair: 'ES256: sign-ins' },
  eventCpu: { what: 'CPU per event of a stream', most: 30, unit: ' µs', pair: 'coursegate: events at once' },
  besideSpread: {
    what: 'p99 of plain requests beside all streams, events spread over the second',
    most: 25,
    unit: ' ms',
  },
  idleStreamOfMany: { what: 'memory per idle event stream, 9,000 of them', most: 34, unit: ' KiB' },
  recovery: { what: 'recovery after all streams are reset', most: 15, unit: ' s' },
  lostTicks: { what: 'lost events', most: 0, unit: '' },
  failedRequests: { what: 'failed plain requests', most: 0, unit: '' },
  descriptors: { what: 'leaked descriptors', most: 0, unit: '' },
  smallToNginxNode: { what: '1 KiB / nginx auth_request + Node service', most: 1.1, unit: ' x', pair: SMALL },
  smallToHpm: { what: '1 KiB / http-proxy-middleware on express, our gate', most: 0.35, unit: ' x', pair: SMALL },
  smallToGo: { what: '1 KiB / Go ReverseProxy, no token', most: 0.95, unit: ' x', pair: SMALL },
  largeToGo: { what: '64 KiB / Go ReverseProxy, no token', most: 1, unit: ' x', pair: LARGE },
  largeToNginxNode: { what: '64 KiB / nginx auth_request + Node service', most: 0.9, unit: ' x', pair: LARGE },
  pluginSmall: {
    what: '1 KiB, nginx + our decision / nginx auth_request + Node service',
    most: 1.25,
    unit: ' x',
    pair: SMALL,
  },
  pluginLarge: {
    what: '64 KiB, nginx + our decision / nginx auth_request + Node service',
    most: 1.1,
    unit: ' x',
    pair: LARGE,
  },
  pluginGate: {
    what: '1 KiB, the gate for a decision / for a request that it forwards',
    most: 0.8,
    unit: ' x',
    pair: SMALL,
  },
  pluginP99: {
    what: 'p99 of nginx + our decision above nginx auth_request + Node service, 2,000/s',
    most: 2,
    unit: ' ms',
    pair: AT_RATE,
  },
  p99AtRate: { what: 'p99 added to nginx proxy_pass at 2,000/s', most: 2, unit: ' ms', pair: AT_RATE },
  p99AtHalf: {
    what: 'p99 added to nginx proxy_pass at half of our maximum',
    most: 3,
    unit: ' ms',
    pair: 'coursegate: half of our maximum',
  },
  idleStream: { what: 'memory per idle event stream, 1,000 of them', most: 34, unit: ' KiB' },
  idleSchool: { what: 'resident memory of an idle school of 1,000', most: 150, unit: ' KB' },
  schoolsReady: { what: 'time from spawn to ready: 1,000 schools', most: 10, unit: ' s' },
  schoolRequest: {
    what: 'CPU per request: one of 1,000 schools / one school alone',
    most: 1.05,
    unit: ' x',
    pair: 'one school alone: requests',
  },
  routes: { what: '1 KiB with 1,000 routes / with 10', most: 1.05, unit: ' x', pair: 'coursegate: 1 KiB, routes' },
} as const satisfies Readonly<Record<string, Goal>>;

export type GoalName = keyof typeof GOALS;

/** What was measured for some of the goals. A goal with the value undefined was not measured in this run. */
export type Measurements = Partial<Record<GoalName, Estimate | number | undefined>>;

export type Verdict = 'met' | 'missed' | 'not decided';

/**
 * Judges a figure by its whole interval: met if it is within the bound, missed if it is beyond it. A single value is judged by
 * itself.
 */
export function judge(bound: Bound, figure: Estimate | number): Verdict {
  const { most = Number.POSITIVE_INFINITY, least = Number.NEGATIVE_INFINITY } = bound;
  const { low, high } = typeof figure === 'number' ? { low: figure, high: figure } : figure;
  if (high <= most && low >= least) return 'met';
  return low > most || high < least ? 'missed' : 'not decided';
}

/** The bound as it is written: `≤ 0.95 x`. */
export function boundOf({ most, least, unit }: Goal): string {
  return `${most === undefined ? `≥ ${least}` : `≤ ${most}`}${unit}`;
}
