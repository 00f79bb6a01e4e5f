// Documents about the running service: the OpenAPI document and auth.md, the instructions for agents.

import type { Tree } from '../config/tree.ts';
import type { Handler } from '../http/exchange.ts';
import { authMd } from './auth-md/auth-md.ts';
import type { DescribedService, RunningRoute } from './described-service.ts';
import { openapiDocument } from './openapi/document.ts';
import { importApi, type UpstreamApi } from './openapi/upstream/import-api.ts';
import { type ServedDocument, serveDocument, servedDocument } from './served-document.ts';

export interface Discovery {
  readonly openapi: Handler;
  readonly authMd: Handler;
}

export interface DiscoveryParts {
  readonly service: DescribedService;
  /** The route table. Called once, after all routes have been built. */
  readonly routes: () => readonly RunningRoute[];
  /** The OpenAPI documents of upstreams, by upstream name. */
  readonly documents: ReadonlyMap<string, Tree>;
}

/** Creates the handlers of the OpenAPI document and auth.md. The OpenAPI document is generated on the first request. */
export function createDiscovery({ service, routes, documents }: DiscoveryParts): Discovery {
  let described: ServedDocument | undefined;
  const describe = () => {
    const apis = new Map<string, UpstreamApi>();
    for (const [name, upstream] of Object.entries(service.config.upstreams)) {
      const document = documents.get(name);
      if (document !== undefined) apis.set(name, importApi(name, upstream, document));
    }
    return openapiDocument({ service, routes: routes(), apiOf: (name) => apis.get(name) });
  };
  const instructions = servedDocument('text/markdown; charset=utf-8', authMd(service));

  return {
    openapi(exchange) {
      described ??= servedDocument('application/json', JSON.stringify(describe()));
      serveDocument(exchange, described);
    },
    authMd: (exchange) => serveDocument(exchange, instructions),
  };
}
