import { Webhook } from 'standardwebhooks';
import { vi } from 'vitest';
import { type RecordingUpstream, type Script, startRecordingUpstream } from './recording-upstream.ts';

export const EVENTS_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDSZ2Mv5pIrP8=';

/** An event as a backend reads it. */
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

/** A backend that receives events with the reference library and records the ones whose signature is valid. */
export interface EventReceiver {
  readonly upstream: RecordingUpstream;
  /** Everything received with a valid signature, whatever the response was. */
  readonly receipts: readonly Receipt[];
  /** Resolves once `found` accepts the events of this type. Returns all of them, oldest first. */
  has(type: string, found?: (events: readonly ReceivedEvent[]) => boolean): Promise<readonly ReceivedEvent[]>;
  of(type: string): readonly ReceivedEvent[];
  /** Sets the response from now on; undefined means 204. */
  answers(script: Script | undefined): void;
  forget(): void;
  close(): Promise<void>;
}

/** Starts a receiver that verifies with `secret`. */
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
          if (!found(events)) throw new Error(`${events.length} events of type ${type}: ${JSON.stringify(events)}`);
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
