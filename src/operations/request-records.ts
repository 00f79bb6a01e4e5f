import type { IncomingMessage } from 'node:http';
import { type GatewayError, oauthError } from '../errors.ts';
import type { Provenance } from '../http/provenance.ts';
import { RequestRecord, ROUTE_LABELS } from '../http/request-record.ts';
import type { RequestInFlight } from '../http/requests-in-flight.ts';
import type { MemberPrincipal } from '../oauth/principal.ts';
import type { Clock } from '../storage/store.ts';
import type { AccessLog } from './access-log.ts';
import type { Log } from './log.ts';
import { createLogThrottle } from './log-throttle.ts';
import type { Metrics } from './metrics.ts';

export type RequestRecords = ReturnType<typeof createRequestRecords>;

/** What finished and refused requests are reported to. */
interface Reports {
  readonly metrics: Metrics;
  /** Undefined when no access log is kept. */
  readonly accessLog: AccessLog | undefined;
  /** Called with the areas that a member's app read or changed. */
  readonly used: (member: MemberPrincipal, areas: readonly string[]) => void;
  /** Called with each request that was a step of connecting an app, once it is over; undefined when there is no console. */
  readonly connecting: ((record: RequestRecord, status: number, userAgent: string) => void) | undefined;
  /** Called for each request that the gate refused. */
  readonly denied: (record: RequestRecord) => void;
}

export function createRequestRecords(
  { metrics, accessLog, used, connecting, denied }: Reports,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
) {
  // A client can send our name in Via itself.
  const warnRarely = createLogThrottle({ clock, lines: 1, apart: 60_000 });
  const begin = (inFlight: RequestInFlight, provenance: Provenance): RequestRecord => {
    const { request } = inFlight;
    const record = newRecord(request, provenance);
    inFlight.record = record;
    inFlight.bytesBefore = request.socket.bytesWritten;
    return record;
  };

  return {
    /** Starts the record of a new request. */
    begin,

    /** The same for an upgrade. Call `answered` with the status that was sent. */
    beginTunnel(inFlight: RequestInFlight, provenance: Provenance) {
      const record = begin(inFlight, provenance);
      record.route = ROUTE_LABELS.site;
      const answered = (status: number) => {
        inFlight.tunnelStatus = status;
        record.answered(false);
      };
      return { record, answered };
    },

    /** The end step: reports the record to the metrics and the access log. */
    over({ request, response, record, bytesBefore, tunnelStatus }: RequestInFlight): void {
      if (record === undefined) return;
      const status = response?.headersSent === true ? response.statusCode : tunnelStatus;
      const milliseconds = performance.now() - record.started;
      metrics.ended(record, status, milliseconds);
      accessLog?.write(record, status, request.socket.bytesWritten - bytesBefore, milliseconds);
      if (record.steps !== undefined) connecting?.(record, status, request.headers['user-agent'] ?? '');
      const { principal, areas } = record;
      // A failed request is not counted as use: as far as the gate knows, it read and changed nothing.
      const succeeded = status >= 200 && status < 400;
      if (succeeded && areas.length > 0 && principal?.kind === 'member') used(principal, areas);
    },

    /** Notes that the gate refused the request, and why; `principal` is the member, if known. */
    refused(record: RequestRecord, reason: string, principal: MemberPrincipal | undefined): void {
      record.outcome = 'refused';
      record.reason = reason;
      if (principal !== undefined) record.principal = principal;
      denied(record);
    },

    /** Notes a failure in the record. Failures with a status of 500 or more are also logged, loops once a minute. */
    failed(record: RequestRecord, failure: GatewayError): void {
      record.outcome = 'failed';
      record.reason = failure.code;
      record.explainStep({ error: oauthError(failure), description: failure.message });
      if (failure.status < 500) return;
      const { provenance, method, route, path } = record;
      if (failure.code === 'loop_detected') {
        const message = 'a request came back to this gate: an upstream is the gate itself, or leads to it';
        warnRarely('', (suppressed) => log.warn({ method, path, suppressed }, message));
        return;
      }
      const ids = { request_id: provenance.requestId, trace_id: provenance.traceId() };
      log.error({ ...ids, method, route, err: failure }, 'request failed');
    },
  };
}

function newRecord(request: IncomingMessage, provenance: Provenance): RequestRecord {
  const url = request.url ?? '';
  const query = url.indexOf('?');
  return new RequestRecord(provenance, request.method ?? '', query === -1 ? url : url.slice(0, query));
}
