// Documents about the running service: the OpenAPI document and auth.md, the instructions for agents.

import type { Handler } from '../http/exchange.ts';
import type { JsonObject } from '../http/json-object.ts';
import type { DescribedService, RunningRoute } from './described-service.ts';
import type { UpstreamApi } from './openapi/upstream/import-api.ts';
import { type ServedDocument, serveDocument, servedDocument } from './served-document.ts';

export interface Discovery {
  readonly openapi: Handler;
  readonly authMd: Handler;
}

export interface DiscoveryParts {
  readonly service: DescribedService;
  /** The route table. Called after all routes have been built. */
  readonly routes: () => readonly RunningRoute[];
  /** The OpenAPI documents of upstreams, by upstream name. */
  readonly documents: ReadonlyMap<string, JsonObject>;
}

/** Creates the handlers of the OpenAPI document and auth.md. Each document is generated on the first request. */
export function createDiscovery({ service, routes, documents }: DiscoveryParts): Discovery {
  return {
    openapi: generated('application/json', async () => {
      const [{ openapiDocument }, { importApi }] = await Promise.all([
        import('./openapi/document.ts'),
        import('./openapi/upstream/import-api.ts'),
      ]);
      const apis = new Map<string, UpstreamApi>();
      for (const [name, upstream] of Object.entries(service.config.upstreams)) {
        const document = documents.get(name);
        if (document !== undefined) apis.set(name, importApi(name, upstream, document));
      }
      return JSON.stringify(openapiDocument({ service, routes: routes(), apiOf: (name) => apis.get(name) }));
    }),
    authMd: generated('text/markdown; charset=utf-8', async () => {
      const { authMd } = await import('./auth-md/auth-md.ts');
      return authMd(service);
    }),
  };
}

function generated(type: string, generate: () => Promise<string>): Handler {
  let document: ServedDocument | undefined;
  return async (exchange) => {
    document ??= servedDocument(type, await generate());
    serveDocument(exchange, document);
  };
}
