import type { RouteConfig, UpstreamConfig } from '../../../config/schema.ts';
import { isTree, type Tree } from '../../../config/tree.ts';
import type { Json } from '../json.ts';
import type { PathTemplate } from '../path-template.ts';
import type { RouteFacts } from '../route-operation.ts';
import { pathAtGate, pathAtUpstream } from './match-route.ts';
import { operationCopy } from './operation-copy.ts';
import { schemaCopy } from './schema-copy.ts';
import { isInternal, sourceOf } from './source.ts';

/** What an upstream says of itself, where routes lead to it. */
export interface UpstreamApi {
  /**
   * Out: the operations that a route leads to by one method; undefined when the document has no path at all that the
   * route leads to, so that it says nothing of it.
   */
  operationsOf(entry: RouteConfig, method: string, facts: RouteFacts): readonly ImportedOperation[] | undefined;
}

interface ImportedOperation {
  readonly template: PathTemplate;
  readonly operation: Json;
  /** The schemas that it refers to and none before it did, by their names in our document. */
  readonly schemas: Readonly<Record<string, Json>>;
}

/**
 * In: the upstream's name and settings, and its OpenAPI document, 3.0 or 3.1 by its own word and not to be trusted
 * beyond that. Never throws for what is in it.
 */
export function importApi(name: string, upstream: UpstreamConfig, document: Tree): UpstreamApi {
  const source = sourceOf(document);
  const urlPath = new URL(upstream.url).pathname.replace(/\/$/, '');
  const basePath = basePathOf(document, upstream.url);
  const paths = Object.entries(isTree(document.paths) ? document.paths : {}).filter(([path]) =>
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
      // A dot keeps its names apart from ours and from those of other upstreams. Each schema is copied once, and is given
      // on with the first operation that refers to it: the operations of a large document share most of theirs.
      const schemas = schemaCopy(source, (schema) => `${name}.${schema}`);
      return reached.flatMap(({ path, item }): readonly ImportedOperation[] => {
        const operation = item[method.toLowerCase()];
        if (!isTree(operation) || isInternal(item) || isInternal(operation)) return [];
        const copied = operationCopy({ source, schemas, upstream }, entry, facts, { item, operation, path });
        return [{ template: { path, parameters: [] }, operation: copied, schemas: schemas.referred() }];
      });
    },
  };
}

/** The path of the document's first server, under which its paths stand; its variables at their defaults. */
function basePathOf({ servers }: Tree, url: string): string {
  const [server] = Array.isArray(servers) ? servers : [];
  if (!isTree(server) || typeof server.url !== 'string') return '';
  const { variables } = server;
  const filled = server.url.replace(/\{([^}]*)\}/g, (_, name: string) => {
    const variable = isTree(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isTree(variable) && typeof variable.default === 'string' ? variable.default : '';
  });
  return URL.canParse(filled, url) ? new URL(filled, url).pathname.replace(/\/$/, '') : '';
}
