import { confusableSkeleton } from '../rules/confusables.ts';

/** Names that suggest that the course site itself is asking. Compared as whole skeletons. */
const OFFICIAL = [
  ...['admin', 'administrator', 'administration', 'support', 'support team', 'it support', 'help', 'help desk'],
  ...['security', 'security team', 'official', 'staff', 'sign in', 'login', 'account', 'coursegate'],
  ...['administrador', 'administradora', 'administración', 'soporte', 'soporte técnico', 'ayuda', 'seguridad'],
  ...['oficial', 'secretaría', 'cuenta', 'iniciar sesión'],
];

/** From this length, a name inside another name is no coincidence. */
const TELLING = 8;

/** What looks like a Latin letter and is not in Unicode's table: digits and signs of leetspeak, and letters at a glance. */
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
 * Whether an app's name is, or looks like, that of the school or of somebody who speaks for it. Such a name is still
 * shown: the page says beside it that it means nothing. Names are compared as skeletons (UTS #39 section 4), without
 * regard to case, accents and punctuation. Linear in the length of both, which registration and configuration bound.
 */
export function isPosing(name: string, school: string): boolean {
  return readingsOf(name).some((given) => readingsOf(school).some((own) => looksLike(given, own)));
}

function looksLike(name: string, school: string): boolean {
  const own = skeleton(school);
  const given = skeleton(name);
  if (own === '' || given === '') return false;
  if (given === own || OFFICIAL_SKELETONS.has(given)) return true;
  if (own.length >= TELLING) return given.includes(own);
  // A sign that looks like a letter must not part a word.
  return [name, confusableSkeleton(name)].some((text) => wordsOf(text).map(skeleton).includes(own));
}

/** As it is, and with its signs taken for what they are: a dash parts two words, and is no letter of Japanese. */
function readingsOf(text: string): readonly string[] {
  const apart = text.replace(/[\p{P}\p{S}]/gu, (sign) => (/^\w$/.test(confusableSkeleton(sign)) ? sign : ' '));
  return apart === text ? [text] : [text, apart];
}

const OFFICIAL_SKELETONS: ReadonlySet<string> = new Set(OFFICIAL.map(skeleton));

function skeleton(text: string): string {
  // Unicode's table comes before and after: it has no full-width letters of its own, and reads some that NFKD replaces
  // (the long s, which looks like f) in another way. It also comes before case is folded: Η looks like H, its η like n.
  const alike = confusableSkeleton(confusableSkeleton(text).normalize('NFKD'));
  return [...foldCase(alike).replace(/\p{M}/gu, '')]
    .map((letter) => LOOKALIKES.get(letter) ?? letter)
    .join('')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase();
}

function wordsOf(text: string): readonly string[] {
  return text.split(/[^\p{L}\p{M}\p{N}$@!|]+/u);
}

/** By what Unicode's table makes of each lookalike: that is what is looked up. */
function lettersByLookalike(table: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(table).flatMap(([letter, lookalikes]) =>
      [...lookalikes].map((one) => [foldCase(confusableSkeleton(one)).replace(/\p{M}/gu, ''), letter] as const),
    ),
  );
}
