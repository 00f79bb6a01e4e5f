import { isObject, type JsonObject, objectOf } from './json-object.ts';

/**
 * The path that the paths of an OpenAPI document are relative to: that of its first server, with variables at their
 * defaults, or the `basePath` of Swagger 2. Without a final slash; '' if there is none.
 * @param url - what the server's URL is relative to
 */
export function openApiBasePath({ servers, basePath }: JsonObject, url = 'http://host'): string {
  const server = objectOf(Array.isArray(servers) ? servers[0] : { url: basePath });
  if (typeof server.url !== 'string') return '';
  const variables = objectOf(server.variables);
  const filled = server.url.replace(/\{([^}]*)\}/g, (_, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isObject(variable) && typeof variable.default === 'string' ? variable.default : '';
  });
  return URL.parse(filled, url)?.pathname.replace(/\/+$/, '') ?? '';
}
