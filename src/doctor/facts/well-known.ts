import type { Answer } from '../answer.ts';
import type { Site } from '../site.ts';
import { NoAnswer } from '../unavailable.ts';

/** One spelling under which metadata may stand, and what came from there. */
export interface WellKnown {
  /** Of which resource: its path under the origin. */
  readonly path: string;
  /** Where RFC 9728 §3.1 puts it, or behind the resource's own path, where some put it. */
  readonly spelling: 'inserted' | 'appended';
  readonly url: string;
  /** Undefined when there was no answer. */
  readonly answer: Answer | undefined;
}

const NAME = '/.well-known/oauth-protected-resource';

/** Asks for the metadata of the origin, of the address that was given, and of /mcp, in every spelling in use. */
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

/** An answer; undefined where there was none, which is for others to judge. */
export async function answerOrNone(site: Site, url: string): Promise<Answer | undefined> {
  try {
    return await site.ask(url);
  } catch (thrown) {
    if (thrown instanceof NoAnswer) return undefined;
    throw thrown;
  }
}
