// Documents about the running service: the OpenAPI document and auth.md, the instructions for agents.

import type { Exchange } from '../http/exchange.ts';
import type { Html } from '../http/html.ts';
import type { JsonObject } from '../http/json-object.ts';
import { once } from '../http/once.ts';
import type { DescribedService, RunningRoute } from './described-service.ts';
import type { UpstreamApi } from './openapi/upstream/import-api.ts';
import { serveDocument, servedDocument } from './served-document.ts';

export interface DiscoveryParts {
  readonly service: DescribedService;
  /** The route table. Called after all routes have been built. */
  readonly routes: () => readonly RunningRoute[];
  /** The OpenAPI documents of upstreams, by upstream name. */
  readonly documents: ReadonlyMap<string, JsonObject>;
}

/** Creates the OpenAPI document and auth.md. Each is generated on the first request. */
export function createDiscovery({ service, routes, documents }: DiscoveryParts) {
  return {
    openapi: generated('application/json', listed, async () => {
      const [{ openapiDocument }, { importApi }] = await Promise.all([
        import('./openapi/document.ts'),
        import('./openapi/upstream/import-api.ts'),
      ]);
      const apis = new Map<string, UpstreamApi>();
      for (const [name, upstream] of Object.entries(service.config.upstreams)) {
        const document = documents.get(name);
        if (document !== undefined) apis.set(name, importApi(name, upstream, document));
      }
      return JSON.stringify(await openapiDocument({ service, routes: routes(), apiOf: (name) => apis.get(name) }));
    }),
    authMd: generated('text/markdown; charset=utf-8', rendered, async () => {
      const { authMd } = await import('./auth-md/auth-md.ts');
      return authMd(service);
    }),
  };
}

async function listed(text: string): Promise<Html> {
  return (await import('./openapi/operation-list.ts')).operationList(text);
}

async function rendered(text: string): Promise<Html> {
  return (await import('./auth-md/markdown-html.ts')).markdownHtml(text);
}

function generated(type: string, asHtml: (text: string) => Promise<Html>, generate: () => Promise<string>) {
  const load = once(async () => servedDocument(type, await generate()), { forgetFailure: true });
  return {
    /** Sends the document to programs. */
    handler: async (exchange: Exchange) => serveDocument(exchange, await load()),
    /** The document as a person reads it. */
    markup: once(async () => asHtml((await load()).text), { forgetFailure: true }),
  };
}
