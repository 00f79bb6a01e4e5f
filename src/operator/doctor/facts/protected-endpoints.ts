import { text } from '../answer.ts';
import type { Question } from '../ask.ts';
import type { ExaminedSite } from '../site.ts';
import { Unavailable } from '../unavailable.ts';
import type { FactFinder, ProtectedEndpoint } from './facts.ts';
import { mcpQuestion } from './mcp-endpoint.ts';

/** A token that no server has ever issued. */
const NEVER_ISSUED = 'coursegate-doctor-never-issued-4f1c09';

/** The tool interface, the given address, and userinfo, if they exist. */
export async function findProtectedEndpoints(
  site: ExaminedSite,
  find: FactFinder,
): Promise<readonly [ProtectedEndpoint, ...ProtectedEndpoint[]]> {
  const mcp = await find('mcp').catch(() => undefined);
  const server = await find('server').catch(() => undefined);
  const questions = new Map<string, Question>();
  if (mcp !== undefined) questions.set(mcp.url, mcpQuestion('tools/list'));
  for (const url of [site.path && site.origin + site.path, text(server?.document.userinfo_endpoint)])
    if (url && !questions.has(url)) questions.set(url, {});

  const found: ProtectedEndpoint[] = [];
  for (const [url, question] of questions) {
    try {
      const none = await site.ask(url, question);
      found.push({ url, question, none, bad: await site.ask(url, withToken(question, NEVER_ISSUED)) });
    } catch {
      // Other checks report what does not answer.
    }
  }
  const [first, ...others] = found;
  if (first === undefined) throw new Unavailable('no protected address is known: pass one, such as https://…/mcp');
  return [first, ...others];
}

/** The same request with a token, and perhaps more header fields. */
export function withToken(question: Question, token: string, more: Question['headers'] = {}): Question {
  return { ...question, headers: { ...question.headers, ...more, authorization: `Bearer ${token}` } };
}

/** The address with the unknown token in its query, where it must be ignored (RFC 6750 section 2.3). */
export function withTokenInQuery(url: string): string {
  const there = new URL(url);
  there.searchParams.set('access_token', NEVER_ISSUED);
  return there.href;
}
