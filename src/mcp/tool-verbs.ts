import { type JsonObject, objectOf } from '../http/json-object.ts';
import verbs from './tool-verbs.json' with { type: 'json' };

const wordsOf = (list: string): ReadonlySet<string> => new Set(list.split(' '));
const [READING, CHANGING] = [wordsOf(verbs.reading), wordsOf(verbs.changing)];

/** Verbs that say the same to a model. */
export const SAME = verbs.same.map(wordsOf);

/** The first word of the name of a tool: `cancel` of `cancelOrder`. */
export const verbOf = (name: string): string => (/^[A-Z]*[a-z]*/.exec(name)?.[0] ?? '').toLowerCase();

export const saysReading = (name: string): boolean => READING.has(verbOf(name));
export const saysChanging = (name: string): boolean => CHANGING.has(verbOf(name));

/** The input of a tool whose value says whether something is read or changed. */
export function decidingInput(schema: JsonObject): string | undefined {
  const inputs = Object.entries(objectOf(schema.properties)).map(([name, input]) => {
    const values = [objectOf(input).enum ?? []].flat().filter((value) => typeof value === 'string');
    const both = values.some(saysReading) && values.some(saysChanging);
    return both || (/^(http_?)?method$/i.test(name) && values.length === 0) ? name : undefined;
  });
  return inputs.find((name) => name !== undefined);
}
