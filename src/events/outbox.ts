import type { EventType } from '../config/events.ts';
import type { NewEntry } from '../storage/store.ts';
import type { GateEvent } from './event.ts';
import type { EventQueue } from './queue.ts';

/** Stores an event in the commit of the change that it describes, so that neither exists without the other. */
export interface Outbox {
  /** Whether events of this type are sent. Callers skip look-ups for events that are not. */
  wants(type: EventType): boolean;
  /** The entries to add to that commit; none when events of this type are not sent. */
  entries(event: GateEvent): readonly NewEntry[];
}

/** Used without `events` in the configuration. */
export const NO_OUTBOX: Outbox = { wants: () => false, entries: () => [] };

/** `written` is called for each new event, before its commit. */
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
