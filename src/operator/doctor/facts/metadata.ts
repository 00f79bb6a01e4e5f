import { jsonObject, strings } from '../answer.ts';
import type { ExaminedSite } from '../site.ts';
import { orNone, Unavailable } from '../unavailable.ts';
import type {
  ExaminedServer,
  FactFinder,
  ResourceDocument,
  ServerSpelling,
  ServerSpellings,
  WellKnown,
} from './facts.ts';

export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';

/** Requests the metadata of the origin, the given address, and /mcp, in every spelling in use. */
export async function findWellKnown(site: ExaminedSite): Promise<readonly WellKnown[]> {
  const found: WellKnown[] = [];
  for (const path of new Set(['', site.path, '/mcp']))
    for (const spelling of path === '' ? (['inserted'] as const) : (['inserted', 'appended'] as const)) {
      const [before, after] = spelling === 'inserted' ? ['', path] : [path, ''];
      const url = site.origin + before + RESOURCE_METADATA_PATH + after;
      found.push({ path, spelling, url, answer: await orNone(site.ask(url)) });
    }
  return found;
}

/** The documents at the spelling of RFC 9728, that of the given address first. */
export async function findResources(
  site: ExaminedSite,
  find: FactFinder,
): Promise<readonly [ResourceDocument, ...ResourceDocument[]]> {
  const found = (await find('wellKnown')).flatMap(({ path, spelling, answer }) => {
    const document = answer?.status === 200 ? jsonObject(answer) : undefined;
    if (spelling === 'appended' || answer === undefined || document === undefined) return [];
    return [{ path, resource: `${site.origin}${path}`, answer, document }];
  });
  const [first, ...others] = found.toSorted((a, b) => Number(b.path === site.path) - Number(a.path === site.path));
  if (first === undefined) throw new Unavailable('no protected resource metadata was found');
  return [first, ...others];
}

/**
 * All spellings (RFC 8414 sections 3.1 and 5, OpenID Connect Discovery section 4) for the first server that the resource
 * lists, or for the origin if it lists none, like older clients.
 */
export async function findServerSpellings(site: ExaminedSite, find: FactFinder): Promise<ServerSpellings> {
  const resources = (await orNone(find('resources'), Unavailable)) ?? [];
  const issuer = resources.flatMap(({ document }) => strings(document.authorization_servers))[0] ?? site.origin;
  const url = URL.parse(issuer);
  if (url === null) throw new Unavailable(`the issuer "${issuer}" is not a URL`);
  const path = url.pathname === '/' ? '' : url.pathname.replace(/\/$/, '');
  const spellings: ServerSpelling[] = [];
  for (const at of new Set([
    `/.well-known/oauth-authorization-server${path}`,
    `/.well-known/openid-configuration${path}`,
    `${path}/.well-known/openid-configuration`,
  ])) {
    const answer = await orNone(site.ask(`${url.origin}${at}`));
    const document = answer?.status === 200 ? jsonObject(answer) : undefined;
    spellings.push({ url: `${url.origin}${at}`, answer, document });
  }
  return { issuer, spellings };
}

export async function findServer(_site: ExaminedSite, find: FactFinder): Promise<ExaminedServer> {
  const { issuer, spellings } = await find('serverSpellings');
  for (const { answer, document } of spellings)
    if (answer !== undefined && document !== undefined) return { issuer, spellings, answer, document };
  throw new Unavailable(`no metadata of the authorization server ${issuer} was found`);
}
