/** Names that suggest that the course site itself is asking. Compared as whole skeletons. */
const OFFICIAL = [
  ...['admin', 'administrator', 'administration', 'support', 'support team', 'it support', 'help', 'help desk'],
  ...['security', 'security team', 'official', 'staff', 'sign in', 'login', 'account', 'coursegate'],
  ...['administrador', 'administradora', 'administración', 'soporte', 'soporte técnico', 'ayuda', 'seguridad'],
  ...['oficial', 'secretaría', 'cuenta', 'iniciar sesión'],
];

/** From this length, a name inside another name is no coincidence. */
const TELLING = 8;

/** Lookalikes of Latin letters in Cyrillic, Greek, Armenian and Latin: first capitals, then lower case. */
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
 * Whether an app's name equals or resembles that of the course site or of an official role, compared by skeletons as in
 * UTS #39 section 4. Such a name is still shown, with a warning next to it.
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
  // Capitals first: a Greek Η looks like H, but its lower-case form looks like n.
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
