import { bearer } from '../../support/app.ts';
import type { World } from '../../support/world.ts';
import { type Block, placeOf } from './markdown.ts';

/** A request in a comment above a response: `answer: GET /readyz at admin`, `answer: GET /x as member`. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly asMember: boolean;
  readonly atAdmin: boolean;
}

/** Returns the request above a JSON block, or undefined if there is none. Throws if it cannot be parsed. */
export function askedFor(block: Block): Asked | undefined {
  const marker = block.markers.find((one) => one.startsWith('answer:'));
  if (marker === undefined) return undefined;
  const found = /^answer: (GET|POST) (\/\S*)( as member)?( at admin)?$/.exec(marker);
  if (!found)
    throw new Error(
      `${placeOf(block)}: “${marker}” is not “answer: GET /path”, with “as member” or “at admin” behind it`,
    );
  const [, method = '', path = '', member, admin] = found;
  return { method, path, asMember: member !== undefined, atAdmin: admin !== undefined };
}

/** Sends the request to the demo. Returns the response's JSON. */
export async function ask(asked: Asked, { origin, admin }: World, token: string): Promise<unknown> {
  const answer = await fetch((asked.atAdmin ? admin : origin) + asked.path, {
    method: asked.method,
    headers: asked.asMember ? bearer(token) : {},
  });
  return answer.json();
}

/** Returns where a page's JSON differs in structure from the actual one. A page may omit members and shorten lists. */
export function differences(shown: unknown, there: unknown, at = '$'): readonly string[] {
  const [kind, other] = [kindOf(shown), kindOf(there)];
  if (kind !== other) return [`${at} is shown as ${kind}, and is ${other}`];
  if (kind === 'list') {
    const [first] = there as unknown[];
    return (shown as unknown[]).flatMap((one, index) =>
      first === undefined ? [] : differences(one, first, `${at}[${index}]`),
    );
  }
  if (kind !== 'mapping') return [];
  return Object.entries(shown as object).flatMap(([key, value]) =>
    Object.hasOwn(there as object, key)
      ? differences(value, (there as Record<string, unknown>)[key], `${at}.${key}`)
      : [`${at}.${key} is shown, and is not there; there are ${Object.keys(there as object).join(', ')}`],
  );
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (value === null) return 'null';
  return typeof value === 'object' ? 'mapping' : typeof value;
}
