import { confusableSkeleton } from './confusables.ts';

/**
 * Characters that look like a Latin letter but are not in Unicode's table: digits and signs of leetspeak, and letters
 * that are similar at a glance.
 */
const LOOKALIKES = lettersByLookalike({
  a: '@4',
  b: 'вь',
  d: 'ð',
  e: 'єε3',
  g: 'ԍ9',
  h: 'н',
  i: 'l!',
  k: 'кκ',
  m: 'мμ',
  n: 'п',
  s: '5$',
  t: 'тτ',
  u: 'ц',
  w: 'ω',
  x: 'χ',
});

/**
 * The same for names that look alike (UTS #39 section 4), regardless of case, accents and punctuation. Takes time linear in
 * the length of the text, which the caller must limit.
 */
export function skeleton(text: string): string {
  // Unicode's table is applied before and after NFKD: it does not contain full-width letters, and it maps some
  // characters differently than NFKD does (the long s, which looks like f). It is also applied before case folding: Η
  // looks like H, but its lower case η looks like n.
  const alike = confusableSkeleton(confusableSkeleton(text).normalize('NFKD'));
  return [...foldCase(alike).replace(/\p{M}/gu, '')]
    .map((letter) => LOOKALIKES.get(letter) ?? letter)
    .join('')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

/**
 * The text as it is, and with its signs replaced by spaces unless they look like a Latin letter or digit. A dash, for
 * example, looks like a Japanese letter but separates words.
 */
export function readingsOf(text: string): readonly string[] {
  const apart = text.replace(/[\p{P}\p{S}]/gu, (sign) => (/^\w$/.test(confusableSkeleton(sign)) ? sign : ' '));
  return apart === text ? [text] : [text, apart];
}

function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase();
}

export function wordsOf(text: string): readonly string[] {
  return text.split(/[^\p{L}\p{M}\p{N}$@!|]+/u);
}

/** Maps each lookalike's skeleton, which is what is looked up, to its letter. */
function lettersByLookalike(table: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(table).flatMap(([letter, lookalikes]) =>
      [...lookalikes].map((one) => [foldCase(confusableSkeleton(one)).replace(/\p{M}/gu, ''), letter] as const),
    ),
  );
}
