import { type Answer, text } from '../answer.ts';
import type { Question } from '../ask.ts';
import type { Site } from '../site.ts';
import { Unavailable } from '../unavailable.ts';
import type { FactFinder } from './facts.ts';
import { mcpQuestion } from './mcp-endpoint.ts';

/** A protected address, and its responses without a token and with a token that was never issued. */
export interface ProtectedEndpoint {
  readonly url: string;
  readonly question: Question;
  readonly none: Answer;
  readonly bad: Answer;
}

/** A token that no server has ever issued. */
const NEVER_ISSUED = 'coursegate-doctor-never-issued-4f1c09';

/** The tool interface, the given address, and userinfo, if they exist. */
export async function findProtectedEndpoints(
  site: Site,
  find: FactFinder,
): Promise<readonly [ProtectedEndpoint, ...ProtectedEndpoint[]]> {
  const candidates: { url: string; question: Question }[] = [];
  const mcp = await orNone(find('mcp'));
  if (mcp !== undefined)
    candidates.push({ url: mcp.url, question: mcpQuestion({ method: 'tools/list' }, '2025-11-25') });
  const given = site.origin + site.path;
  if (site.path !== '' && given !== mcp?.url) candidates.push({ url: given, question: {} });
  const server = await orNone(find('server'));
  const userinfo = text(server?.document.userinfo_endpoint);
  if (userinfo !== undefined) candidates.push({ url: userinfo, question: {} });

  const protectedEndpoints: ProtectedEndpoint[] = [];
  for (const { url, question } of candidates) {
    const endpoint = await orNone(open(site, url, question));
    if (endpoint !== undefined) protectedEndpoints.push(endpoint);
  }
  const [first, ...others] = protectedEndpoints;
  if (first === undefined) throw new Unavailable('no protected address is known: pass one, such as https://…/mcp');
  return [first, ...others];
}

async function open(site: Site, url: string, question: Question): Promise<ProtectedEndpoint> {
  return { url, question, none: await site.ask(url, question), bad: await site.ask(url, withToken(question)) };
}

/** The same request with the unknown token. */
function withToken(question: Question): Question {
  return { ...question, headers: { ...question.headers, authorization: `Bearer ${NEVER_ISSUED}` } };
}

/** The address with the unknown token in its query, where it must be ignored (RFC 6750 section 2.3). */
export function withTokenInQuery(url: string): string {
  const there = new URL(url);
  there.searchParams.set('access_token', NEVER_ISSUED);
  return there.href;
}

async function orNone<T>(fact: Promise<T>): Promise<T | undefined> {
  try {
    return await fact;
  } catch {
    return undefined;
  }
}
