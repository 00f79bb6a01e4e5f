import type { Handler } from '../http/exchange.ts';
import { authMd } from './auth-md/auth-md.ts';
import type { DescribedService, RunningRoute } from './described-service.ts';
import { openapiDocument } from './openapi/document.ts';
import type { UpstreamApi } from './openapi/upstream/import-api.ts';
import { type ServedDocument, serveDocument, servedDocument } from './served-document.ts';

export interface Discovery {
  readonly openapi: Handler;
  readonly authMd: Handler;
}

export interface DiscoveryParts {
  readonly service: DescribedService;
  /** The running routes table. Asked for once, when it is whole. */
  readonly routes: () => readonly RunningRoute[];
  /** What upstreams say of themselves, by name: the same map as long as nothing has changed. Never rejects. */
  readonly upstreamApis: () => Promise<ReadonlyMap<string, UpstreamApi>>;
}

/** Out: the handlers of the two documents that say what there is. Each text is made once, and again when it changes. */
export function createDiscovery({ service, routes, upstreamApis }: DiscoveryParts): Discovery {
  let made: { readonly from: ReadonlyMap<string, UpstreamApi>; readonly document: ServedDocument } | undefined;
  const instructions = servedDocument('text/markdown; charset=utf-8', authMd(service));

  return {
    async openapi(exchange) {
      const apis = await upstreamApis();
      if (made?.from !== apis) {
        const document = openapiDocument({ service, routes: routes(), apiOf: (name) => apis.get(name) });
        made = { from: apis, document: servedDocument('application/json', JSON.stringify(document)) };
      }
      serveDocument(exchange, made.document);
    },
    authMd: (exchange) => serveDocument(exchange, instructions),
  };
}
