import type { RouteConfig, UpstreamConfig } from '../../../config/schema.ts';
import { isObject, type JsonObject } from '../../../http/json-object.ts';
import { openApiBasePath } from '../../../http/openapi-base-path.ts';
import type { PathTemplate } from '../path-template.ts';
import type { RouteFacts } from '../route-operation.ts';
import { pathAtGate, pathAtUpstream } from './match-route.ts';
import { operationCopy } from './operation-copy.ts';
import { schemaCopy } from './schema-copy.ts';
import { isInternal, sourceOf } from './source.ts';

/** The API that an upstream describes, as seen through routes. */
export interface UpstreamApi {
  /**
   * The operations that a route with this method leads to; undefined if the route leads to no path of the document at
   * all.
   */
  operationsOf(entry: RouteConfig, method: string, facts: RouteFacts): readonly ImportedOperation[] | undefined;
}

interface ImportedOperation {
  readonly template: PathTemplate;
  readonly operation: JsonObject;
  /** The schemas that this operation references and no earlier one did, by their names in our document. */
  readonly schemas: Readonly<Record<string, JsonObject>>;
}

/**
 * Imports an upstream's OpenAPI document, version 3.0 or 3.1. The document is untrusted: beyond its version nothing is
 * assumed about it. Never throws because of its content.
 */
export function importApi(name: string, upstream: UpstreamConfig, document: JsonObject): UpstreamApi {
  const source = sourceOf(document);
  const urlPath = new URL(upstream.url).pathname.replace(/\/$/, '');
  const basePath = openApiBasePath(document, upstream.url);
  const paths = Object.entries(isObject(document.paths) ? document.paths : {}).filter(([path]) =>
    /^\/[^\s?#]*$/.test(path),
  );

  return {
    operationsOf(entry, method, facts) {
      const reached = paths.flatMap(([given, node]) => {
        const path = pathAtGate(entry, pathAtUpstream(given, basePath, urlPath));
        const item = source.resolve(node);
        return path === undefined || item === undefined ? [] : [{ path, item }];
      });
      if (reached.length === 0) return undefined;
      // The dot keeps names apart from our own and from those of other upstreams. Each schema is copied once, with the
      // first operation that references it, because the operations of a large document share most of their schemas.
      const schemas = schemaCopy(source, (schema) => `${name}.${schema}`);
      return reached.flatMap(({ path, item }): readonly ImportedOperation[] => {
        const operation = item[method.toLowerCase()];
        if (!isObject(operation) || isInternal(item) || isInternal(operation)) return [];
        const copied = operationCopy({ source, schemas, upstream }, entry, facts, { item, operation, path });
        return [{ template: { path, parameters: [] }, operation: copied, schemas: schemas.referred() }];
      });
    },
  };
}
