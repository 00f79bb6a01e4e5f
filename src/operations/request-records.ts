import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { GatewayError } from '../errors.ts';
import type { Provenance } from '../http/provenance.ts';
import { RequestRecord, ROUTE_LABELS } from '../http/request-record.ts';
import { whenClosed } from '../http/when-closed.ts';
import type { MemberPrincipal } from '../oauth/principal.ts';
import type { AccessLog } from './access-log.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

export interface RequestRecords {
  /** The record of a request that has just come in; it is told to the metrics and the access log when it is over. */
  begin(request: IncomingMessage, response: ServerResponse, provenance: Provenance): RequestRecord;
  /** The same for a WebSocket, which is over when it is closed. `told` is called with the status sent. */
  beginTunnel(
    request: IncomingMessage,
    socket: Socket,
    provenance: Provenance,
  ): { record: RequestRecord; told: (status: number) => void };
  /** Notes that the gate let nobody in, and why; who it was where that is known. */
  refused(record: RequestRecord, reason: string, principal: MemberPrincipal | undefined): void;
  /** Notes a failure in the record; one of ours or of what stands behind us goes to the log as well. */
  failed(record: RequestRecord, failure: GatewayError): void;
}

export interface RequestRecordsOptions {
  readonly metrics: Metrics;
  /** undefined: none is kept. */
  readonly accessLog: AccessLog | undefined;
  /** Told of what a member's app has read or changed; undefined: nobody counts it. */
  readonly used: ((member: MemberPrincipal, areas: readonly string[]) => void) | undefined;
  /** Told of each that was let in by nobody. */
  readonly denied: (record: RequestRecord) => void;
  readonly log: Log;
}

export function createRequestRecords({ metrics, accessLog, used, denied, log }: RequestRecordsOptions): RequestRecords {
  const end = (record: RequestRecord, status: number, bytes: number): void => {
    const milliseconds = performance.now() - record.started;
    metrics.ended(record, status, milliseconds);
    accessLog?.write(record, status, bytes, milliseconds);
    const { principal, areas } = record;
    // What failed gave nothing and changed nothing, as far as anyone knows here.
    const succeeded = status >= 200 && status < 400;
    if (used !== undefined && succeeded && areas.length > 0 && principal?.kind === 'member') used(principal, areas);
  };

  return {
    begin(request, response, provenance) {
      const { socket } = request;
      const record = newRecord(request, provenance);
      const before = socket.bytesWritten;
      metrics.began(record);
      whenClosed(response, () =>
        end(record, response.headersSent ? response.statusCode : 0, socket.bytesWritten - before),
      );
      return record;
    },

    beginTunnel(request, socket, provenance) {
      const record = newRecord(request, provenance);
      record.route = ROUTE_LABELS.site;
      const before = socket.bytesWritten;
      let status = 0;
      let closed: (() => void) | undefined;
      metrics.began(record);
      socket.once('close', () => {
        closed?.();
        end(record, status, socket.bytesWritten - before);
      });
      const told = (sent: number) => {
        status = sent;
        record.answered(false);
        if (sent === 101) closed = metrics.socketOpened();
      };
      return { record, told };
    },

    refused(record, reason, principal) {
      record.outcome = 'refused';
      record.reason = reason;
      if (principal !== undefined) record.principal = principal;
      denied(record);
    },

    failed(record, failure) {
      record.outcome = 'failed';
      record.reason = failure.code;
      if (failure.status < 500) return;
      const { provenance, method, route } = record;
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
