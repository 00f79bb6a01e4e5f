import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { mediaType } from '../http/body.ts';
import { fieldValues } from '../http/field-values.ts';
import type { RequestRecord } from '../http/request-record.ts';
import { isEventStream } from './answer-stream.ts';
import { deliver } from './delivery.ts';
import { requestFraming } from './framing.ts';
import { headerPolicy } from './header-policy.ts';
import { requestHeaders, responseHead } from './headers.ts';
import type { UpstreamAccess } from './request.ts';
import type { Target } from './target.ts';
import { createTunnels } from './tunnel.ts';
import { uploadOf } from './upload.ts';

/** The legacy site itself: pages, assets, WebSockets; everything that is not a protected resource. */
export type Site = ReturnType<typeof createSite>;

/**
 * The site lane: the same delivery as on the protected lane, on the same connections, with the site's header policy and
 * without limits.
 * @param name the upstream that is the site
 */
export function createSite(access: Pick<UpstreamAccess, 'upstreams' | 'pools' | 'origin'>, name: string) {
  const upstream = access.pools.get(name);
  const policy = headerPolicy('site', access, name);
  const idle = Math.max(1, Math.round((access.upstreams[name]?.tunnelTimeout ?? 0) * 1000));
  const tunnels = createTunnels(upstream, policy, idle);

  return {
    /**
     * Passes a request on, streaming both ways. Throws as documented on `Forward`.
     * @param ownFields fields that are added to the site's response
     * @param foreignToken whether to pass a bearer token on. By default it is assumed to be meant for us and removed.
     */
    async handle(
      request: IncomingMessage,
      response: ServerResponse,
      target: Target,
      record: RequestRecord,
      ownFields: readonly string[],
      foreignToken = false,
    ): Promise<void> {
      const framing = requestFraming(request);
      const headers = requestHeaders(request.rawHeaders, record.provenance, policy, foreignToken);
      if (framing.kind === 'length') headers.push('Content-Length', framing.length);
      record.asks(name);
      await deliver({
        upstream,
        request: {
          method: request.method ?? 'GET',
          path: upstream.pathOf(target),
          servername: policy.servername,
          headers,
          body: framing.kind === 'none' ? null : uploadOf(request, Number.POSITIVE_INFINITY),
        },
        response,
        limit: Number.POSITIVE_INFINITY,
        head: (status, raw) => {
          const given = responseHead(status, raw, policy, false, undefined, ownFields);
          // Cut to the maximum length of a registered type.
          record.mediaType = mediaType(fieldValues(raw, 'content-type')[0]).slice(0, 127);
          record.answered(isEventStream(raw));
          return given;
        },
      });
    },
    /** Passes a WebSocket on. Never throws: errors are answered on the socket. `report` is called with the status sent. */
    upgrade(
      request: IncomingMessage,
      socket: Duplex,
      head: Buffer,
      target: Target,
      record: RequestRecord,
      report: (status: number) => void,
    ): void {
      record.asks(name);
      tunnels.open({ request, socket, head, target, provenance: record.provenance, report });
    },
    /** Closes the WebSockets, which would never end by themselves; requests continue. */
    hangUp: tunnels.hangUp,
    /** Closes every connection to the site, including tunnels. */
    close: tunnels.close,
  };
}
