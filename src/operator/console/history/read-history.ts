import { GatewayError } from '../../../errors.ts';
import { html } from '../../../http/html.ts';
import { lastOf } from '../../../operations/record/attempts.ts';
import { MINUTE, type Minute, minuteOf, namesIn } from '../../../operations/record/minute.ts';
import type { TrailLine } from '../../../operations/record/trail.ts';
import { memberLink } from '../kit/links.ts';
import type { Times } from '../kit/times.ts';
import { pathOf, pathOfApp } from '../paths.ts';
import { type Explained, type Explaining, explainedAttempts } from '../recorder/explained.ts';
import { isAbout, type KnownParty, knownOf } from '../recorder/known.ts';
import type { Sources } from '../sources.ts';
import { aboutOf, actionOf, isAlert } from './audit-line.ts';
import { countedRows } from './counted-rows.ts';
import type { HistoryRange } from './range.ts';
import type { HistoryKind, HistoryRow } from './rows.ts';

export type HistorySources = Explaining & Sources<'traffic' | 'trail' | 'times'>;

export interface HistoryFilter {
  readonly kind: HistoryKind | undefined;
  /** Any part of an id, a name or an email address; '' for all. Counts are of everyone, and then left out. */
  readonly member: string;
  readonly app: string;
}

/** A minute of the history. */
export type HistoryMinute = Awaited<ReturnType<typeof readHistory>>['minutes'][number];

/** The most audit lines that are read. */
const MOST_LINES = 2000;
/** Minutes before the range in which the beginning of an outage is looked for. */
const BEFORE = 12 * 60;

/** What happened in a range of minutes, the newest first. Works while the store fails. */
export async function readHistory(sources: HistorySources, { from, to }: HistoryRange, wanted: HistoryFilter) {
  const { traffic, trail, times } = sources;
  const isOfOne = wanted.member !== '' || wanted.app !== '';
  const [recent, audit, attempts] = await Promise.all([
    traffic.recent(from - BEFORE),
    trail.between(from * MINUTE, (to + 1) * MINUTE, MOST_LINES).catch(onlyIfStoreFails),
    explainedAttempts(sources),
  ]);
  const events = [
    ...(await auditEvents(sources, audit?.lines ?? [])),
    ...attempts.filter(({ state }) => state === 'stopped').map(attemptEvent),
  ];
  const byMinute = Map.groupBy(events.filter(isAbout(wanted, events)), ({ row }) => minuteOf(row.at));
  const broken = outages(recent.minutes, from - BEFORE, to, times);
  const minutes = Array.from({ length: to - from + 1 }, (_, before) => {
    const at = to - before;
    // Undefined if no process measured it.
    const minute = recent.minutes.get(at);
    const counted = isOfOne || minute === undefined ? [] : countedRows(minute, broken.get(at) ?? new Map());
    const happened = (byMinute.get(at) ?? []).map(({ row }) => row).toSorted((a, b) => b.at - a.at);
    const rows = [...counted, ...happened].filter(({ kind }) => wanted.kind === undefined || kind === wanted.kind);
    return { at, minute, rows };
  });
  return {
    minutes,
    /** False if the store failed: then only what this process knows is there. */
    stored: recent.complete && audit !== undefined,
    /** False if there are more audit lines than are read. */
    complete: audit?.complete !== false,
  };
}

/** A row of one moment, and whose it is. */
interface HistoryEvent {
  readonly row: HistoryRow & { readonly at: number };
  readonly member: KnownParty | undefined;
  readonly app: KnownParty | undefined;
  /** As the app called itself then. */
  readonly name: string | undefined;
}

async function auditEvents({ store }: HistorySources, lines: readonly TrailLine[]): Promise<readonly HistoryEvent[]> {
  const { apps, members } = await knownOf(
    store,
    lines.map(({ clientId, member }) => ({ app: clientId, member })),
  );
  return lines.map((line) => {
    const member = members.get(line.member ?? '');
    return { row: auditRow(line, member), member, app: apps.get(line.clientId ?? ''), name: line.clientName };
  });
}

function auditRow(line: TrailLine, member: KnownParty | undefined): HistoryEvent['row'] {
  const isReload = line.action === 'config_reloaded';
  const failed = line.outcome === 'failure';
  return {
    kind: isReload ? 'gate' : 'audit',
    level: failed || isAlert(line) ? 'bad' : 'plain',
    at: line.at,
    text: html`${actionOf(line)}`,
    about: aboutOf(line, {}, member?.name),
    count: 1,
    noun: 'audit line',
    ...(isReload && { state: failed ? 'configuration refused' : 'configuration applied' }),
  };
}

function attemptEvent({ attempt, name, app, member, why }: Explained): HistoryEvent {
  const about = [member && html`member ${memberLink(member)}`, app && html`<a href="${pathOfApp(app.id)}">app</a>`];
  const text = html`<a href="${pathOf('connections', attempt.id)}"><bdi>${name}</bdi></a> could not connect: ${why?.title}`;
  const { at } = lastOf(attempt);
  const row = { kind: 'attempts', level: 'bad', at, text, about, count: 1, noun: 'stopped attempt' } as const;
  return { row, member, app, name };
}

/** The upstreams that are left alone at the end of each minute, and since when, if their last success was measured. */
function outages(minutes: ReadonlyMap<number, Minute>, from: number, to: number, times: Times) {
  const found = new Map<number, ReadonlyMap<string, string | undefined>>();
  let before: ReadonlyMap<string, string | undefined> = new Map();
  for (let at = from; at <= to; at += 1) {
    const minute = minutes.get(at);
    const names = minute === undefined ? [] : [...namesIn(minute, 'breakers').keys()];
    const began = minutes.has(at - 1) ? times.time(at * MINUTE) : undefined;
    before = new Map(names.map((name) => [name, before.has(name) ? before.get(name) : began]));
    found.set(at, before);
  }
  return found;
}

function onlyIfStoreFails(thrown: unknown): undefined {
  if (!(thrown instanceof GatewayError && thrown.code === 'store_unavailable')) throw thrown;
}
