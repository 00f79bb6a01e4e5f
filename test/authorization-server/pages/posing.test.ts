import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isPosing } from '../../../src/authorization-server/pages/posing.ts';

const SCHOOL = 'Harbour Lane School';

/** Each prototype in Unicode's table, and the characters confusable with it. */
const PROTOTYPES: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('../../../src/authorization-server/rules/confusables.json', import.meta.url), 'utf8'),
).prototypes;

/** The characters that Unicode calls confusable with a letter: all that have the same prototype. */
function lookalikesOf(letter: string): readonly string[] {
  const [prototype = letter] = Object.entries(PROTOTYPES).find(([, alike]) => [...alike].includes(letter)) ?? [];
  return [prototype, ...(PROTOTYPES[prototype] ?? '')].filter((one) => one !== letter);
}

describe('detecting that an app poses as the school', () => {
  it.each([
    'Harbour Lane School',
    'HARBOUR  LANE—SCHOOL',
    'HarbourLaneSchool',
    'Harb0ur 1ane Schoo|',
    'Нarbоur Lаnе Sсhооl', // Cyrillic Н, о, а, е, с
    'Ηarbour Lane School', // Greek Η
    'Ｈａｒｂｏｕｒ Ｌａｎｅ Ｓｃｈｏｏｌ',
    'Hárbour Läne Schoöl',
    'Harbour Lane School – Support',
    'The official app of Harbour Lane School',
    'Harbour ᒪane School', // Canadian Syllabics Ma
    'Harbour Lane Schoo𝟏',
    'Harbour Lane ꓢchool', // Lisu S
    'ꓧarbour Lane School',
    'Harbour Lane Schooⅼ', // Roman numeral fifty
    'Ⲏarbour Lane School', // Coptic
    'ᕼarbour Lane School',
    'Harbour Lane S𝒸hool',
    'Harbour Lane Schoꬽl',
    'Harbour L𐊠ne School', // Carian A
    'Admin',
    'АDМIN',
    'Adm1n',
    'Adrnin',
    'Support',
    'Soporte técnico',
    'Security Team',
    '𝐒𝐮𝐩𝐩𝐨𝐫𝐭',
  ])('recognises %s', (name) => {
    expect(isPosing(name, SCHOOL)).toBe(true);
  });

  it.each([
    'Study Buddy',
    'Claude',
    'Harbour Walks',
    'School Planner',
    'Supporting Notes',
    'Admiral',
    '🎓',
    '',
    'Школа',
  ])('accepts %s', (name) => {
    expect(isPosing(name, SCHOOL)).toBe(false);
  });

  it.each([
    SCHOOL,
    SCHOOL.toUpperCase(),
    SCHOOL.toLowerCase(),
    'Fjord Academy 2',
    'Quick Box Gym',
    'Школа Завтра',
    'Σχολή Αθηνών',
  ])('recognises %s with any one letter replaced by one that Unicode calls confusable with it', (school) => {
    const missed: string[] = [];
    let tried = 0;
    for (const [at, letter] of [...school].entries()) {
      for (const alike of lookalikesOf(letter)) {
        const name = [...school].with(at, alike).join('');
        tried += 1;
        if (!isPosing(name, school)) missed.push(`${name} (U+${alike.codePointAt(0)?.toString(16)} for ${letter})`);
      }
    }
    expect(missed).toEqual([]);
    expect(tried).toBeGreaterThan(school === school.normalize('NFKD') && /[a-z]/i.test(school) ? 200 : 20);
  });

  it('recognises a short school name with any one letter replaced', () => {
    const missed = [...'Oxley'].flatMap((letter, at) =>
      lookalikesOf(letter)
        .map((alike) => `The ${[...'Oxley'].with(at, alike).join('')} app`)
        .filter((name) => !isPosing(name, 'Oxley')),
    );
    expect(missed).toEqual([]);
  });

  it('takes at most 50 ms for the longest possible name', () => {
    const longest = 'ﷺ'.repeat(64);
    isPosing(longest, SCHOOL);
    const began = performance.now();
    for (let times = 0; times < 10; times += 1) isPosing(longest, 'ﷺ'.repeat(100));
    expect((performance.now() - began) / 10).toBeLessThan(50);
  });

  it('recognises a short school name only as a whole word', () => {
    expect(isPosing('Art', 'Art')).toBe(true);
    expect(isPosing('Art – official', 'Art')).toBe(true);
    expect(isPosing('Smart Study', 'Art')).toBe(false);
  });

  it('accepts a name without letters', () => {
    expect(isPosing('🎓', '🎓 !')).toBe(false);
  });
});
