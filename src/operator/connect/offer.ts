import { listOf, objectOf } from '../../http/json-object.ts';
import { requestPublic, type Transport } from './oauth/transport.ts';
import { responseJson } from './response-json.ts';

/** What a site says that a token can be used for. */
export interface Offer {
  /** The path of the Account API, and of the tools for agents. Undefined if the site has none. */
  readonly account: string | undefined;
  readonly tools: string | undefined;
  /** Whether these are known, or only the usual paths because the site describes no API. */
  readonly described: boolean;
  /** Addresses that can be read with nothing but a token, those of courses first. */
  readonly readable: readonly Readable[];
}

interface Readable {
  readonly path: string;
  readonly scopes: readonly string[];
}

/** The paths of the contract. */
const USUAL: Offer = { account: '/account/graphql', tools: '/mcp', described: false, readable: [] };
/** Reads the site's `/openapi.json`. The first `mostRead` addresses are enough to see that they work. A site without one may still have what the contract names. */
export async function readOffer(origin: string, http: Transport, mostRead = 3): Promise<Offer> {
  const document = objectOf(await readDocument(new URL('/openapi.json', origin), http).catch(() => undefined));
  const paths = Object.entries(objectOf(document.paths)).map(([path, item]) => [path, objectOf(item)] as const);
  if (paths.length === 0) return USUAL;
  const pathOf = (operation: string) => paths.find(([, item]) => objectOf(item.post).operationId === operation)?.[0];
  return {
    account: pathOf('queryAccount'),
    tools: pathOf('callTools'),
    described: true,
    readable: paths
      .flatMap(([path, item]) => readable(path, objectOf(item.get), listOf(item.parameters)))
      .toSorted((a, b) => Number(isAboutCourses(b.path)) - Number(isAboutCourses(a.path)))
      .slice(0, mostRead),
  };
}

async function readDocument(url: URL, http: Transport): Promise<unknown> {
  const response = await requestPublic(url, http);
  if (response.ok) return responseJson(response);
  return response.body?.cancel();
}

export function isAboutCourses(path: string): boolean {
  return /course(?!gate)|enrol/i.test(path);
}

/** A GET that needs a token and nothing else. Tags name the gate's own operations. */
function readable(
  path: string,
  operation: Readonly<Record<string, unknown>>,
  parameters: readonly unknown[],
): readonly Readable[] {
  const [oauth2] = listOf(operation.security).flatMap((one) =>
    'oauth2' in objectOf(one) ? [objectOf(one).oauth2] : [],
  );
  const needs = [...parameters, ...listOf(operation.parameters)].some((one) => objectOf(one).required === true);
  const own = listOf(operation.tags).some((tag) => ['discovery', 'oauth', 'account', 'tools'].includes(String(tag)));
  if (oauth2 === undefined || needs || own || path.includes('{')) return [];
  return [{ path, scopes: listOf(oauth2).map(String) }];
}
