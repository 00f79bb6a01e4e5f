import { type Answer, type JsonObject, jsonObject } from '../answer.ts';
import type { Site } from '../site.ts';
import { Unavailable } from '../unavailable.ts';
import type { FactFinder } from './facts.ts';

/** A protected resource document that exists. */
export interface ResourceDocument {
  /** The path of the resource for which it was requested. */
  readonly path: string;
  /** The resource for which it was requested, which it must name exactly. */
  readonly resource: string;
  readonly answer: Answer;
  readonly document: JsonObject;
}

/** The documents at the spelling of RFC 9728, that of the given address first. */
export async function findResources(
  site: Site,
  find: FactFinder,
): Promise<readonly [ResourceDocument, ...ResourceDocument[]]> {
  const found = (await find('wellKnown'))
    .filter(({ spelling }) => spelling === 'inserted')
    .flatMap(({ path, answer }) => {
      const document = answer?.status === 200 ? jsonObject(answer) : undefined;
      if (answer === undefined || document === undefined) return [];
      return [{ path, resource: `${site.origin}${path}`, answer, document }];
    });
  const [first, ...others] = found.toSorted((a, b) => Number(b.path === site.path) - Number(a.path === site.path));
  if (first === undefined) throw new Unavailable('no protected resource metadata was found');
  return [first, ...others];
}
