import { jsonObject, strings } from '../answer.ts';
import type { ExaminedSite } from '../site.ts';
import { orNone, Unavailable } from '../unavailable.ts';
import type { ExaminedServer, FactFinder, ServerSpelling, ServerSpellings } from './facts.ts';

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
