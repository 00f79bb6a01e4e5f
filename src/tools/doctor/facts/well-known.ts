import type { Answer } from '../answer.ts';
import type { Site } from '../site.ts';
import { NoAnswer } from '../unavailable.ts';

/** One spelling of a metadata address, and its response. */
export interface WellKnown {
  /** The path of the resource. */
  readonly path: string;
  /** As RFC 9728 section 3.1 specifies it, or appended to the resource's path, as some servers do. */
  readonly spelling: 'inserted' | 'appended';
  readonly url: string;
  /** Undefined when the server did not answer. */
  readonly answer: Answer | undefined;
}

const NAME = '/.well-known/oauth-protected-resource';

/** Requests the metadata of the origin, the given address, and /mcp, in every spelling in use. */
export async function findWellKnown(site: Site): Promise<readonly WellKnown[]> {
  const paths = [...new Set(['', site.path, '/mcp'])];
  const spellings = paths.flatMap((path) => [
    { path, spelling: 'inserted' as const, url: `${site.origin}${NAME}${path}` },
    ...(path === '' ? [] : [{ path, spelling: 'appended' as const, url: `${site.origin}${path}${NAME}` }]),
  ]);
  const found: WellKnown[] = [];
  for (const one of spellings) found.push({ ...one, answer: await answerOrNone(site, one.url) });
  return found;
}

/** The response; undefined when there was none, which other checks report. */
export async function answerOrNone(site: Site, url: string): Promise<Answer | undefined> {
  try {
    return await site.ask(url);
  } catch (thrown) {
    if (thrown instanceof NoAnswer) return undefined;
    throw thrown;
  }
}
