import { type Answer, type JsonObject, jsonObject, strings } from '../answer.ts';
import type { Site } from '../site.ts';
import { Unavailable } from '../unavailable.ts';
import type { FactFinder } from './facts.ts';
import { answerOrNone } from './well-known.ts';

/** One of the addresses at which clients look for authorization server metadata. */
interface ServerSpelling {
  readonly name: 'RFC 8414' | 'OpenID, inserted' | 'OpenID, appended';
  readonly url: string;
  readonly answer: Answer | undefined;
  readonly document: JsonObject | undefined;
}

export interface ServerSpellings {
  /** The issuer as the resource lists it. */
  readonly issuer: string;
  readonly spellings: readonly ServerSpelling[];
}

/** An authorization server whose metadata was found. */
export interface Server extends ServerSpellings {
  readonly answer: Answer;
  readonly document: JsonObject;
}

/** For the first server that the resource lists, or the origin if it lists none, like older clients. */
export async function findServerSpellings(site: Site, find: FactFinder): Promise<ServerSpellings> {
  const resources = await find('resources').catch((thrown: unknown) => {
    if (thrown instanceof Unavailable) return [];
    throw thrown;
  });
  const [named] = resources.flatMap(({ document }) => strings(document.authorization_servers));
  const issuer = named ?? site.origin;
  return { issuer, spellings: await askSpellings(site, issuer) };
}

export async function findServer(_site: Site, find: FactFinder): Promise<Server> {
  const { issuer, spellings } = await find('serverSpellings');
  const found = spellings.find(({ document }) => document !== undefined);
  if (found?.answer === undefined || found.document === undefined)
    throw new Unavailable(`no metadata of the authorization server ${issuer} was found`);
  return { issuer, spellings, answer: found.answer, document: found.document };
}

/** All spellings of an issuer: RFC 8414 sections 3.1 and 5, and OpenID Connect Discovery section 4. */
async function askSpellings(site: Site, issuer: string): Promise<readonly ServerSpelling[]> {
  const url = URL.parse(issuer);
  if (url === null) throw new Unavailable(`the issuer "${issuer}" is not a URL`);
  const path = url.pathname === '/' ? '' : url.pathname.replace(/\/$/, '');
  const found: ServerSpelling[] = [];
  for (const [name, at] of [
    ['RFC 8414', `/.well-known/oauth-authorization-server${path}`],
    ['OpenID, inserted', `/.well-known/openid-configuration${path}`],
    ...(path === '' ? [] : [['OpenID, appended', `${path}/.well-known/openid-configuration`] as const]),
  ] as const) {
    const answer = await answerOrNone(site, `${url.origin}${at}`);
    const document = answer?.status === 200 ? jsonObject(answer) : undefined;
    found.push({ name, url: `${url.origin}${at}`, answer, document });
  }
  return found;
}
