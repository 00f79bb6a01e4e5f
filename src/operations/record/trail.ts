import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { currentRequest } from '../../http/current-request.ts';
import { type Charge, chargeFrom, TRAIL, TRAIL_OF_STRANGERS } from '../../storage/quota.ts';
import { jsonEntry, type NewEntry, type ReferenceName, unixSeconds } from '../../storage/store.ts';
import { type AuditEvent, shownWith } from '../audit.ts';
import type { Log } from '../log.ts';
import type { Recording } from './recording.ts';

/** Part of an audit event that was kept: ids and reasons, as they are in the audit log. `at` is in milliseconds. */
export type TrailLine = ReturnType<typeof lineOf>;

/** Whose lines to read. */
export type Subject = { readonly member: string } | { readonly client: string } | { readonly grant: string };

/**
 * Keeps the audit events of the last 30 days for the console: those about one member, app or connection, and what changed
 * the gate itself.
 */
export type Trail = ReturnType<typeof createTrail>;

interface TrailParts extends Recording {
  readonly log: Pick<Log, 'warn'>;
  /** The most lines that wait to be written. Further lines are dropped until the next flush, and counted in the log. */
  readonly most?: number;
}

const KIND = 'AuditTrail';
export const TRAIL_DAYS = 30;
const DAY = 86_400;
const MOST = 10_000;
const BATCH = 50;
/** The most lines that are read of one subject and day. */
const OF_A_DAY = 200;
/** Lines are found by time in parts of so many milliseconds, and at most so many of each. */
const PART = 600_000;
const OF_A_PART = 500;
/** Parts that are read before other work runs. */
const AT_ONCE = 4;

/**
 * Lines wait in memory and are written in batches beside the requests, each as a separate entry, so that replicas
 * never overwrite each other's. What they use of the store is bounded by a quota.
 */
export function createTrail({ store, clock, log, isKept = () => true, most = MOST }: TrailParts) {
  let waiting: TrailLine[] = [];
  let dropped = 0;

  return {
    /** Takes an audit event. Never waits or fails. */
    audited(event: AuditEvent): void {
      const { action, member, clientId, grantId } = event;
      const kept = shownWith(action);
      if (!isKept() || kept === undefined) return;
      if (kept === 'subject' && (member ?? clientId ?? grantId) === undefined) return;
      if (waiting.length >= most) dropped += 1;
      else waiting.push(lineOf(event, clock()));
    },

    /** Writes the lines since the last flush. Throws GatewayError `store_unavailable` and keeps them for the next. */
    async flush(): Promise<void> {
      if (dropped > 0) log.warn({ dropped }, 'audit lines for the console were dropped; the audit log has them all');
      dropped = 0;
      while (waiting.length > 0) {
        const batch = waiting.slice(0, BATCH);
        await store.commit(batch.map((line) => ({ op: 'put', entry: entryOf(line) })));
        waiting = waiting.slice(batch.length);
        await turn();
      }
    },

    /**
     * At most `limit` lines, newest first. Includes the lines of this process that wait to be written.
     * Throws GatewayError `store_unavailable`.
     */
    async of(subject: Subject, limit: number): Promise<readonly TrailLine[]> {
      const [name, value] = Object.entries(subject)[0] as [SubjectName, string];
      const found = waiting.filter((line) => subjectOf(line, name) === value);
      const today = dayOf(unixSeconds(clock));
      for (let day = today; day > today - TRAIL_DAYS - 1 && found.length < limit; day -= 1) {
        const stored = await store.findBy(KIND, name, bucket(value, day), OF_A_DAY);
        found.push(...stored.map(({ payload }) => JSON.parse(payload) as TrailLine));
      }
      return newestFirst(found).slice(0, limit);
    },

    /**
     * About `limit` lines at most, newest first, from `from` to before `to` (milliseconds since the epoch). `complete` is
     * false if there are more. Throws GatewayError `store_unavailable`.
     */
    async between(from: number, to: number, limit: number) {
      const within = ({ at }: TrailLine) => at >= from && at < to;
      const found = waiting.filter(within);
      let complete = true;
      let part = partOf(to - 1);
      for (; part >= partOf(from) && found.length < limit; part -= AT_ONCE) {
        const parts = Array.from({ length: Math.min(AT_ONCE, part - partOf(from) + 1) }, (_, back) => part - back);
        const stored = await Promise.all(parts.map((one) => store.findBy(KIND, 'uid', bucket('all', one), OF_A_PART)));
        complete &&= stored.every(({ length }) => length < OF_A_PART);
        found.push(...stored.flat().map(({ payload }) => JSON.parse(payload) as TrailLine));
        await turn();
      }
      const lines = newestFirst(found.filter(within));
      return { lines: lines.slice(0, limit), complete: complete && part < partOf(from) && lines.length <= limit };
    },
  };
}

/** A line that is being written is found twice. */
function newestFirst(found: readonly TrailLine[]): readonly TrailLine[] {
  const each = new Map(found.map((line) => [JSON.stringify(line), line])).values();
  return [...each].toReversed().toSorted((a, b) => b.at - a.at);
}

const partOf = (milliseconds: number): number => Math.floor(milliseconds / PART);

type SubjectName = Extract<ReferenceName, 'member' | 'client' | 'grant'>;

const MEMBER_OF = { member: 'member', client: 'clientId', grant: 'grantId' } as const;

/** The end of one grant is not listed with its app: a command that ends them all has its own line. */
function subjectOf(line: TrailLine, name: SubjectName): string | undefined {
  return name === 'client' && line.action === 'grant_ended' ? undefined : line[MEMBER_OF[name]];
}

function lineOf(event: AuditEvent, at: number) {
  const { action, member, clientId, clientName, grantId, by, reason, outcome, ended, used } = event;
  const current = currentRequest()?.provenance;
  const address = event.address ?? current?.clientAddress;
  const requestId = event.requestId ?? current?.requestId;
  const tool = used?.name;
  return { at, action, member, clientId, clientName, grantId, by, reason, outcome, ended, tool, address, requestId };
}

/** References name the day or ten minutes, too: so lines are found without reading all others. */
function entryOf(line: TrailLine): NewEntry {
  const seconds = Math.floor(line.at / 1000);
  const references: Partial<Record<ReferenceName, string>> = { uid: bucket('all', partOf(line.at)) };
  for (const name of ['member', 'client', 'grant'] as const) {
    const value = subjectOf(line, name);
    if (value !== undefined) references[name] = bucket(value, dayOf(seconds));
  }
  const id = randomBytes(15).toString('base64url');
  const entry = jsonEntry(KIND, id, line, seconds + TRAIL_DAYS * DAY, references);
  return { ...entry, charge: chargeOf(line) };
}

/**
 * Strangers register apps, change and delete them, and send commands without a signature: what they cause counts towards
 * their network.
 */
function chargeOf({ action, member, clientId, grantId, by, address = '' }: TrailLine): Charge {
  const isOfGate = shownWith(action) === 'gate' && action !== 'command_refused';
  if (member === undefined && by === undefined && !isOfGate) return chargeFrom(TRAIL_OF_STRANGERS, address);
  const subject = member ?? clientId ?? grantId ?? '';
  return { quota: TRAIL, network: subject, wider: subject, client: '' };
}

function dayOf(seconds: number): number {
  return Math.floor(seconds / DAY);
}

function bucket(value: string, day: number): string {
  return `${day} ${value}`;
}
