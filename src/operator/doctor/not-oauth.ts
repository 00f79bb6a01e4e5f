import { printable } from '../connect/printable.ts';
import { field, jsonObject, redirectTarget, type SiteAnswer } from './answer.ts';
import { edgeOf, insteadAt, isPuzzle } from './edges.ts';
import type { FactFinder, Facts } from './facts/facts.ts';
import type { ExaminedSite } from './site.ts';

/** A site that answers, but shows nothing that the checks are about. */
export interface NotOAuth {
  /** What it shows instead. */
  readonly seen: string;
  /** What to change if a gate is meant to be there; for a redirect, nothing. */
  readonly fix?: string;
  /** Where the address leads, if it is another site. */
  readonly elsewhere?: string;
}

/**
 * Whether there is nothing to examine: no metadata, no address that asks for a token, and nothing in between that keeps
 * clients out. Undefined if there is.
 */
export async function notOAuth({ ask, origin, path }: ExaminedSite, find: FactFinder): Promise<NotOAuth | undefined> {
  const orUndefined = <K extends keyof Facts>(need: K): Promise<Facts[K] | undefined> =>
    find(need).catch(() => undefined);
  if ((await orUndefined('resources')) !== undefined || (await orUndefined('server')) !== undefined) return undefined;
  const wellKnown = ((await orUndefined('wellKnown')) ?? []).flatMap(({ answer }) => answer ?? []);
  const spellings = ((await orUndefined('serverSpellings'))?.spellings ?? []).flatMap(({ answer }) => answer ?? []);
  const home = await ask(origin + path).catch(() => undefined);
  const mcp = (await orUndefined('mcp'))?.answer;
  const answers = [...wellKnown, ...spellings, ...[home, mcp].filter((answer) => answer !== undefined)];
  const [first] = wellKnown;
  if (first === undefined || answers.some(isSign)) return undefined;
  const target = home === undefined ? undefined : redirectTarget(home);
  if (target !== undefined && target.origin !== origin)
    return { seen: `it redirects to ${target.origin}`, elsewhere: target.origin + path };
  const [seen, fix] = insteadAt(first);
  return { seen: printable(seen), ...(fix === undefined ? {} : { fix: printable(fix) }) };
}

/** Whether an answer is from an OAuth server, or from a product that may hide one. */
function isSign(answer: SiteAnswer): boolean {
  if (edgeOf(answer) !== undefined || isPuzzle(answer)) return true;
  if (/\b(bearer|dpop)\b/i.test(field(answer, 'www-authenticate'))) return true;
  return isMetadata(answer);
}

/** Of OAuth or of an MCP server. A site may answer every path with some other JSON. */
function isMetadata(answer: SiteAnswer): boolean {
  const { issuer, resource, authorization_servers: servers, jsonrpc } = jsonObject(answer) ?? {};
  return [issuer, resource, servers, jsonrpc].some((member) => member !== undefined);
}
