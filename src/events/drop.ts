import type { Delivery, DropReason } from './delivery.ts';
import { CLASSES, type QueuedEvent } from './queue.ts';

const BATCH = 100;

/** Deletes an event that is not going to be delivered, and logs it: at level error if it is about a grant. */
export async function drop({ queue, counts, log }: Delivery, event: QueuedEvent, why: DropReason): Promise<void> {
  await queue.remove(event);
  counts.dropped(event.type, why);
  const line = { event: event.type, id: event.id, happened_at: new Date(event.at).toISOString(), why };
  const message = 'an event could not be delivered and is dropped';
  if (!/^(grant|consent)\./.test(event.type)) return log.warn(line, message);
  const { grant_id, member, client } = event.data as Record<string, { readonly id?: string } | undefined>;
  log.error({ ...line, grant_id, member: member?.id, client_id: client?.id }, message);
}

/** Drops the events older than `maxAge`. Resolves to their number. */
export async function dropOld(delivery: Delivery): Promise<number> {
  const { queue, maxAge, clock } = delivery;
  let dropped = 0;
  for (const of of CLASSES) {
    for (;;) {
      const old = (await queue.oldest(of, BATCH)).filter(({ at }) => at + maxAge <= clock());
      for (const event of old) await drop(delivery, event, 'old');
      dropped += old.length;
      if (old.length < BATCH) break;
    }
  }
  return dropped;
}

/** Drops that many events: the least important class first, and in each class the oldest first. */
export async function dropExcess(delivery: Delivery, excess: number): Promise<void> {
  let left = excess;
  for (const of of CLASSES) {
    while (left > 0) {
      const oldest = await delivery.queue.oldest(of, Math.min(left, BATCH));
      if (oldest.length === 0) break;
      for (const event of oldest) await drop(delivery, event, 'full');
      left -= oldest.length;
    }
  }
}
