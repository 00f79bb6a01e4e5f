import type { EventType } from '../config/events.ts';
import type { NewEntry } from '../storage/store.ts';
import type { GateEvent } from './event.ts';
import type { EventQueue } from './queue.ts';

/** Where events are written down: in the commit of the change that they tell of, so that neither is without the other. */
export interface Outbox {
  /** Whether anybody is told of such events: what an event needs and nobody reads is not looked up. */
  wants(type: EventType): boolean;
  /** Out: what writes an event down, to be put in that commit; nothing when nobody is told of it. */
  entries(event: GateEvent): readonly NewEntry[];
}

/** Nobody is told of anything. */
export const NO_OUTBOX: Outbox = { wants: () => false, entries: () => [] };

/** In: the events that are sent, where they wait, and what to call when there is a new one. */
export function queueOutbox(types: readonly EventType[], queue: EventQueue, written: () => void): Outbox {
  const wanted = new Set(types);
  return {
    wants: (type) => wanted.has(type),
    entries(event) {
      if (!wanted.has(event.type)) return [];
      written();
      return [queue.entryOf(event)];
    },
  };
}
