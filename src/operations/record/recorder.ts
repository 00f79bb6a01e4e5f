// The connection recorder: what every app did that tried to connect, step by step (docs/console.md).

import { setImmediate as turn } from 'node:timers/promises';
import { networkOf } from '../../http/client-network.ts';
import type { StepNote } from '../../http/connection-step.ts';
import type { RequestRecord } from '../../http/request-record.ts';
import { visibleText } from '../../http/visible-text.ts';
import { type Clock, jsonEntry, type Mutation, type Store, unixSeconds } from '../../storage/store.ts';
import type { AuditEvent } from '../audit.ts';
import { shownPath } from '../shown-path.ts';
import type { AttemptStep, ConnectionAttempt } from './attempt.ts';
import { createAttempts, lastOf } from './attempts.ts';
import { stageOf } from './stage.ts';

const KIND = 'ConnectionAttempt';
/** Seconds that an attempt is kept after its last step. */
const KEPT = 86_400;
const BATCH = 50;
/** The most attempts that are read, of all processes. */
const MOST_READ = 5000;
/** Browsers name what they are at the end, after 120 characters. */
const LONGEST_USER_AGENT = 160;
const LONGEST_FACT = 300;

/** Audit actions that are steps of a connection and are told by no request of its app, with what came of the step. */
const AUDITED: Readonly<Partial<Record<AuditEvent['action'], Pick<StepNote, 'kind' | 'outcome'>>>> = {
  app_disconnected: { kind: 'revocation' },
  grant_ended: { kind: 'revocation' },
  approval_requested: { kind: 'approval', outcome: 'requested' },
  approval_given: { kind: 'approval', outcome: 'approved' },
  approval_declined: { kind: 'approval', outcome: 'declined' },
  approval_used: { kind: 'approval', outcome: 'used' },
  approval_expired: { kind: 'approval', outcome: 'expired' },
};

/** Records how apps try to connect, step by step, for the console. */
export type Recorder = ReturnType<typeof createRecorder>;

/**
 * Keeps attempts in memory and writes them in batches. Each process writes its own entries, and readers join them: no
 * write needs a read first, and replicas overwrite nothing.
 */
export function createRecorder(store: Store, clock: Clock) {
  /** Whether requests are reported, which they are only if the console can be opened. */
  let recording = false;
  /** What the store does not have yet, by id; undefined for an attempt that is no longer held. */
  const unwritten = new Map<string, ConnectionAttempt | undefined>();
  /** The ids of entries in the store. */
  const written = new Set<string>();
  const attempts = createAttempts((attempt, held) => {
    if (held || written.delete(attempt.id)) unwritten.set(attempt.id, held ? attempt : undefined);
    else unwritten.delete(attempt.id);
  });

  return {
    /** Adds the steps that a request has noted. Never waits or fails. */
    request(record: RequestRecord, status: number, userAgent: string): void {
      recording = true;
      for (const note of record.steps ?? []) {
        if (isNone(note, record)) continue;
        attempts.add(stepOf(note, record, status, userAgent, clock()));
      }
    },

    /** Adds the end of a connection by the member or by a command, and what became of a call that waits for its member. */
    audited({ action, grantId, by, used, route }: AuditEvent): void {
      const audited = AUDITED[action];
      if (!recording || grantId === undefined || audited === undefined) return;
      const now = clock();
      const step = { outcome: by ?? 'member', ...audited, grantId, at: now, since: now };
      const endpoint = shown(used?.name ?? route ?? '');
      attempts.add({ ...step, times: 1, took: 0, endpoint, status: 0, userAgent: '', network: '' });
    },

    /** Writes what has changed. Throws GatewayError `store_unavailable`, and what is unwritten is kept for the next time. */
    async flush(): Promise<void> {
      attempts.releaseBefore(clock() - KEPT * 1000);
      const all = [...unwritten];
      for (let from = 0; from < all.length; from += BATCH) {
        const batch = all.slice(from, from + BATCH);
        for (const [id] of batch) unwritten.delete(id);
        try {
          await store.commit(batch.map(([id, attempt]) => mutationOf(id, attempt)));
        } catch (thrown) {
          for (const [id, attempt] of batch) if (!unwritten.has(id)) unwritten.set(id, attempt);
          throw thrown;
        }
        for (const [id, attempt] of batch) if (attempt !== undefined) written.add(id);
        await turn();
      }
    },

    /** The attempts of all processes, the newest first. Without the store, those of this process. */
    async list(): Promise<readonly ConnectionAttempt[]> {
      attempts.releaseBefore(clock() - KEPT * 1000);
      const own = attempts.all();
      const ids = new Set(own.map(({ id }) => id));
      const others = (await recorded(store, clock).catch(() => [])).filter(({ id }) => !ids.has(id));
      const joined = others.length === 0 ? own : together([...others, ...own]);
      return joined
        .filter((attempt) => stageOf(attempt) !== 'elsewhere')
        .toSorted((a, b) => lastOf(b).at - lastOf(a).at);
    },
  };
}

function mutationOf(id: string, attempt: ConnectionAttempt | undefined): Mutation {
  if (attempt === undefined) return { op: 'delete', kind: KIND, id };
  const { steps, left } = attempt;
  const expiresAt = Math.floor(lastOf(attempt).at / 1000) + KEPT;
  return { op: 'put', entry: jsonEntry(KIND, id, { id, steps, left }, expiresAt) };
}

/** Whether a note turned out to be no step: a token that was only asked about, or a way to the next page of the gate. */
function isNone({ kind, error, grantId, outcome }: StepNote, record: RequestRecord): boolean {
  if (error !== undefined || outcome !== undefined) return false;
  return (kind === 'use' && record.outcome === 'public') || (kind === 'code' && grantId === undefined);
}

async function recorded(store: Store, clock: Clock): Promise<readonly ConnectionAttempt[]> {
  const found: ConnectionAttempt[] = [];
  let from: string | undefined;
  do {
    const { entries, next } = await store.scan([KIND], from, 500);
    found.push(...entries.map(({ payload }) => JSON.parse(payload) as ConnectionAttempt));
    from = next;
  } while (from !== undefined && found.length < MOST_READ);
  const since = (unixSeconds(clock) - KEPT) * 1000;
  return found.filter((attempt) => lastOf(attempt).at >= since);
}

function together(all: readonly ConnectionAttempt[]): readonly ConnectionAttempt[] {
  const joined = createAttempts();
  for (const attempt of all.toSorted((a, b) => (a.steps[0]?.since ?? 0) - (b.steps[0]?.since ?? 0)))
    joined.addRecorded(attempt);
  return joined.all();
}

function stepOf(note: StepNote, record: RequestRecord, status: number, userAgent: string, now: number): AttemptStep {
  const { method, path, route, provenance, started } = record;
  const bounded = (facts: object): object =>
    Object.fromEntries(
      Object.entries(facts).map(([name, value]) => [name, typeof value === 'string' ? shown(value) : value]),
    );
  const named = note.kind === 'guess' || path.startsWith('/.well-known/') ? shownPath(path).slice(0, 150) : route;
  return {
    ...(bounded(note) as StepNote),
    ...(note.parameters && { parameters: bounded(note.parameters) as Record<string, string> }),
    at: now,
    since: now,
    times: 1,
    took: Math.round(performance.now() - started),
    endpoint: shown(`${method} ${named}`),
    status,
    userAgent: shown(userAgent, LONGEST_USER_AGENT),
    network: networkOf(provenance.clientAddress),
  };
}

/** What a stranger sent, for the console and for text that is copied from it. */
function shown(text: string, longest = LONGEST_FACT): string {
  return visibleText(text.slice(0, longest));
}
