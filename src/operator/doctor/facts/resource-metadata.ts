import { jsonObject } from '../answer.ts';
import type { ExaminedSite } from '../site.ts';
import { orNone, Unavailable } from '../unavailable.ts';
import type { FactFinder, ResourceDocument, WellKnown } from './facts.ts';

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
