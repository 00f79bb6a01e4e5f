import { type Clock, type Entry, jsonEntry, type NewEntry, type Store } from '../storage/store.ts';
import { EVENT_TYPES, type EventClass, type GateEvent } from './event.ts';

const KIND = 'Event';

/** Milliseconds per slot. Events that are put off are indexed by the slot they are due in. */
const SLOT = 60_000;

/** Seconds after `maxAge` at which the store expires an entry, in case no gate is running to drop it. */
const AFTERWARDS = 3600;

/** In the order in which events are dropped when there are too many. They are sent in the reverse order. */
export const CLASSES = ['refusal', 'client', 'grant'] as const satisfies readonly EventClass[];

/** A sign-in that is cancelled before anyone is signed in names no member: anyone can cause as many as they like. */
function classOf({ type, data }: GateEvent): EventClass {
  return type === 'consent.denied' && data.member === undefined ? 'client' : EVENT_TYPES[type].class;
}

/** A pending event. */
export interface QueuedEvent extends GateEvent {
  /** When it happened, in milliseconds since the epoch. */
  readonly at: number;
  /** The number of failed attempts. */
  readonly attempts: number;
  /** Not sent before, in milliseconds since the epoch; 0 means at once. */
  readonly dueAt: number;
}

/** The pending events in the store. Every method throws `store_unavailable`. */
export type EventQueue = ReturnType<typeof eventQueue>;

export function eventQueue(store: Store, clock: Clock, maxAge: number) {
  const entry = (event: QueuedEvent, place: string): NewEntry => {
    const lane = event.lane === undefined ? {} : { grant: event.lane };
    const references = { uid: place, client: classOf(event), ...lane };
    return jsonEntry(KIND, event.id, event, Math.floor(event.at / 1000) + maxAge + AFTERWARDS, references);
  };
  const freshPlace = (of: EventClass) => `fresh ${of}`;
  const find = async (name: 'uid' | 'client' | 'grant', value: string, limit?: number) =>
    (await store.findBy(KIND, name, value, limit)).map(toEvent);

  return {
    /** The entry of an event, to be committed with the change that it describes. */
    entryOf: (event: GateEvent) => entry({ ...event, at: clock(), attempts: 0, dueAt: 0 }, freshPlace(classOf(event))),

    /** Events that were never put off, most important first, then oldest first. */
    async fresh(limit: number): Promise<readonly QueuedEvent[]> {
      const found: QueuedEvent[] = [];
      for (const of of CLASSES.toReversed()) {
        if (found.length >= limit) break;
        found.push(...(await find('uid', freshPlace(of), limit - found.length)).toSorted((a, b) => a.at - b.at));
      }
      return found;
    },

    /** Events that were put off to a slot. */
    inSlot: (slot: number) => find('uid', `slot ${slot}`),
    slotOf: (time: number) => Math.floor(time / SLOT),
    /** The events of one lane, in order. */
    ofLane: async (lane: string) =>
      (await find('grant', lane)).toSorted(
        (a, b) => EVENT_TYPES[a.type].rank - EVENT_TYPES[b.type].rank || a.at - b.at || (a.id < b.id ? -1 : 1),
      ),
    oldest: (of: EventClass, limit: number) => find('client', of, limit),

    /** The number of pending events by class, and how many of them were put off. */
    async counts(): Promise<{ readonly waiting: Readonly<Record<EventClass, number>>; readonly putOff: number }> {
      const [all, fresh] = await Promise.all([
        Promise.all(CLASSES.map((of) => store.count(KIND, 'client', of))),
        Promise.all(CLASSES.map((of) => store.count(KIND, 'uid', freshPlace(of)))),
      ]);
      const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
      const [refusal = 0, client = 0, grant = 0] = all;
      return { waiting: { refusal, client, grant }, putOff: Math.max(0, sum(all) - sum(fresh)) };
    },

    /** Stores the changed event. With an undefined slot, it is due at once. */
    async putOff(event: QueuedEvent, slot: number | undefined): Promise<void> {
      const place = slot === undefined ? freshPlace(classOf(event)) : `slot ${slot}`;
      await store.commit([{ op: 'put', entry: entry(event, place) }], 'vital');
    },

    async remove({ id }: QueuedEvent): Promise<void> {
      await store.commit([{ op: 'delete', kind: KIND, id }], 'vital');
    },
  };
}

function toEvent({ payload }: Entry): QueuedEvent {
  return JSON.parse(payload) as QueuedEvent;
}
