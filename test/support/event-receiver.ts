import { Webhook } from 'standardwebhooks';
import { vi } from 'vitest';
import { type RecordingUpstream, type Script, startRecordingUpstream } from './recording-upstream.ts';

export const EVENTS_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDSZ2Mv5pIrP8=';

/** An event, as a backend reads it. */
export interface ReceivedEvent {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Record<string, unknown>;
}

interface Receipt {
  readonly id: string;
  readonly event: ReceivedEvent;
  readonly fields: Record<string, string>;
  readonly body: string;
}

/** A backend that takes events with the reference library, and keeps those that it has verified. */
export interface EventReceiver {
  readonly upstream: RecordingUpstream;
  /** All that came with a good signature, whatever was answered. */
  readonly receipts: readonly Receipt[];
  /** Resolves once there are events for which `found` says so, of a type; out: them all, the oldest first. */
  has(type: string, found?: (events: readonly ReceivedEvent[]) => boolean): Promise<readonly ReceivedEvent[]>;
  of(type: string): readonly ReceivedEvent[];
  /** What is answered from now on; undefined: 204. */
  answers(script: Script | undefined): void;
  forget(): void;
  close(): Promise<void>;
}

/** In: the secret it verifies with. */
export async function startEventReceiver(secret = EVENTS_SECRET): Promise<EventReceiver> {
  const webhook = new Webhook(secret);
  const receipts: Receipt[] = [];
  let answer: Script | undefined;
  const upstream = await startRecordingUpstream(async (request, response, recorded) => {
    await recorded.whole;
    const body = recorded.body.toString('utf8');
    const fields = request.headers as Record<string, string>;
    try {
      const event = webhook.verify(body, fields) as ReceivedEvent;
      receipts.push({ id: fields['webhook-id'] ?? '', event, fields, body });
    } catch (thrown) {
      response.writeHead(401).end(String(thrown));
      return;
    }
    if (answer === undefined) response.writeHead(204).end();
    else await answer(request, response, recorded);
  });
  const of = (type: string) => receipts.filter(({ event }) => event.type === type).map(({ event }) => event);
  return {
    upstream,
    receipts,
    of,
    has: (type, found = (events) => events.length > 0) =>
      vi.waitFor(
        () => {
          const events = of(type);
          if (!found(events)) throw new Error(`of ${type} there are ${events.length}: ${JSON.stringify(events)}`);
          return events;
        },
        { timeout: 30_000, interval: 20 },
      ),
    answers(script) {
      answer = script;
    },
    forget() {
      receipts.length = 0;
    },
    close: () => upstream.close(),
  };
}
