import type { NewEntry } from '../storage/store.ts';
import type { GateEvent } from './event.ts';
import type { EventQueue } from './queue.ts';

/** Stores an event in the commit of the change that it describes, so that neither exists without the other. */
export interface Outbox {
  /** Whether events are sent. Callers skip look-ups if not. */
  readonly active: boolean;
  /** The entries to add to that commit; none when events are not sent. */
  entries(event: GateEvent): readonly NewEntry[];
}

/** Used without `events` in the configuration. */
export const NO_OUTBOX: Outbox = { active: false, entries: () => [] };

/** `written` is called for each new event, before its commit. */
export function queueOutbox(queue: EventQueue, written: () => void): Outbox {
  return {
    active: true,
    entries(event) {
      written();
      return [queue.entryOf(event)];
    },
  };
}
