/** Names that sound as if the school itself asked. Compared as skeletons, whole. */
const OFFICIAL = [
  ...['admin', 'administrator', 'administration', 'support', 'support team', 'it support', 'help', 'help desk'],
  ...['security', 'security team', 'official', 'staff', 'sign in', 'login', 'account', 'coursegate'],
  ...['administrador', 'administradora', 'administración', 'soporte', 'soporte técnico', 'ayuda', 'seguridad'],
  ...['oficial', 'secretaría', 'cuenta', 'iniciar sesión'],
];

/** A name this long is no accident inside another one. */
const TELLING = 8;

/** What looks like a Latin letter, in Cyrillic, Greek, Armenian, and Latin itself: as capitals, then in lower case. */
const LOOKALIKES = lettersByLookalike({
  a: 'ΑАаαɑ@4',
  b: 'ΒВЬвь',
  c: 'СϹсϲᴄ',
  d: 'ԁđð',
  e: 'ΕЕеєε3',
  g: 'ԌɡցԍG9',
  h: 'ΗНҺһнħհ',
  i: 'ΙІӀіıɩιlL1|!',
  j: 'ЈјյϳJ',
  k: 'ΚКкκ',
  m: 'ΜМмμ',
  n: 'Νпηո',
  o: 'ΟОՕоοօσøө0',
  p: 'ΡРрρ',
  q: 'ԚԛզQ',
  r: 'гᴦ',
  s: 'ЅѕꜱՏ5$',
  t: 'ΤТтτ',
  u: 'Սυսц',
  v: 'ѴνѵV',
  w: 'Ԝԝωաш',
  x: 'ΧХхχ',
  y: 'ΥУҮуүγʏ',
  z: 'ΖᴢZ',
});

/**
 * Whether an app's name is, or looks like, that of the school or of somebody who speaks for it (after the
 * skeletons of UTS #39 §4). Such a name is still shown: the page says beside it that it means nothing.
 */
export function isPosing(name: string, school: string): boolean {
  const own = skeleton(school);
  const given = skeleton(name);
  if (own === '' || given === '') return false;
  if (given === own || OFFICIAL.some((title) => skeleton(title) === given)) return true;
  if (own.length >= TELLING) return given.includes(own);
  return wordsOf(name).map(skeleton).includes(own);
}

function skeleton(text: string): string {
  // Capitals first: a Greek Η looks like H, but its small letter like n.
  return alike(alike(text.normalize('NFKD')).toUpperCase().toLowerCase())
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

function alike(text: string): string {
  return [...text].map((letter) => LOOKALIKES.get(letter) ?? letter).join('');
}

function wordsOf(text: string): readonly string[] {
  return text.split(/[^\p{L}\p{M}\p{N}$@!|]+/u);
}

function lettersByLookalike(table: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(table).flatMap(([letter, lookalikes]) => [...lookalikes].map((one) => [one, letter])));
}
