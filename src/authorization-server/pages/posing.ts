import { confusableSkeleton } from '../rules/confusables.ts';

/** Names that suggest that the course site itself is asking. Compared as whole skeletons. */
const OFFICIAL = [
  ...['admin', 'administrator', 'administration', 'support', 'support team', 'it support', 'help', 'help desk'],
  ...['security', 'security team', 'official', 'staff', 'sign in', 'login', 'account', 'coursegate'],
  ...['administrador', 'administradora', 'administración', 'soporte', 'soporte técnico', 'ayuda', 'seguridad'],
  ...['oficial', 'secretaría', 'cuenta', 'iniciar sesión'],
];

/** From this length on, a course site's name inside an app's name is no coincidence. */
const TELLING = 8;

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
 * Whether an app's name is, or looks like, the name of the course site or of somebody who speaks for it. Such a name is
 * still shown, with a warning beside it. Names are compared as skeletons (UTS #39 section 4), regardless of case,
 * accents and punctuation. Takes time linear in the length of both names, which registration and configuration limit.
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
  // A sign that looks like a letter does not separate words.
  return [name, confusableSkeleton(name)].some((text) => wordsOf(text).map(skeleton).includes(own));
}

/**
 * The text as it is, and with its signs replaced by spaces unless they look like a Latin letter or digit. A dash, for
 * example, looks like a Japanese letter but separates words.
 */
function readingsOf(text: string): readonly string[] {
  const apart = text.replace(/[\p{P}\p{S}]/gu, (sign) => (/^\w$/.test(confusableSkeleton(sign)) ? sign : ' '));
  return apart === text ? [text] : [text, apart];
}

const OFFICIAL_SKELETONS: ReadonlySet<string> = new Set(OFFICIAL.map(skeleton));

function skeleton(text: string): string {
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

function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase();
}

function wordsOf(text: string): readonly string[] {
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
