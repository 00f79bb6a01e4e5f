// Documents about the running service: the OpenAPI document and auth.md, the instructions for agents.

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
  /** The route table. Called once per document that is generated, after all routes have been built. */
  readonly routes: () => readonly RunningRoute[];
  /**
   * APIs described by upstreams, by upstream name. Resolves to the same map until something changes. Never rejects.
   */
  readonly upstreamApis: () => Promise<ReadonlyMap<string, UpstreamApi>>;
}

/**
 * Creates the handlers of the OpenAPI document and auth.md. auth.md is written once; the OpenAPI document again
 * whenever an upstream's description changes.
 */
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
