import table from './confusables.json' with { type: 'json' };

/**
 * Unicode's confusable characters, each with its prototype (UTS #39 section 4). The data file is under the Unicode License
 * beside it, and written by test/tooling/write-confusables.ts.
 */
const PROTOTYPES: ReadonlyMap<string, string> = new Map(
  Object.entries(table.prototypes).flatMap(([prototype, alike]) => [...alike].map((one) => [one, prototype] as const)),
);

/**
 * The skeleton of UTS #39 section 4: two texts that look alike have the same one. Not for display. Linear in the length of
 * the text, which the caller bounds.
 */
export function confusableSkeleton(text: string): string {
  const visible = text.normalize('NFD').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return [...visible]
    .map((character) => PROTOTYPES.get(character) ?? character)
    .join('')
    .normalize('NFD');
}
