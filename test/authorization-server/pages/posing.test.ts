import { describe, expect, it } from 'vitest';
import { isPosing } from '../../../src/authorization-server/pages/posing.ts';

const SCHOOL = 'Harbour Lane School';

describe('an app poses as the school', () => {
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
    'Admin',
    'АDМIN',
    'Adm1n',
    'Adrnin',
    'Support',
    'Soporte técnico',
    'Security Team',
    '𝐒𝐮𝐩𝐩𝐨𝐫𝐭',
  ])('as %s', (name) => {
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
  ])('not as %s', (name) => {
    expect(isPosing(name, SCHOOL)).toBe(false);
  });

  it('a short name of a school poses as a word, not inside of one', () => {
    expect(isPosing('Art', 'Art')).toBe(true);
    expect(isPosing('Art – official', 'Art')).toBe(true);
    expect(isPosing('Smart Study', 'Art')).toBe(false);
  });

  it('a name without letters is nobody’s', () => {
    expect(isPosing('🎓', '🎓 !')).toBe(false);
  });
});
