import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestRecord } from '../http/request-record.ts';
import type { RequestInFlight } from '../http/requests-in-flight.ts';
import type { Target } from '../upstream/target.ts';

/** One request, as it is handed from step to step. */
export interface Incoming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: Target;
  readonly record: RequestRecord;
  readonly inFlight: RequestInFlight;
}
