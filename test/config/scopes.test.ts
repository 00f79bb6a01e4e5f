import { expect, it } from 'vitest';
import { load, SMALL } from './fixture.ts';

/** The list of the contract (service-spec, Scopes), in the same order. */
const CONTRACT = [
  'openid profile email',
  'courses:read courses:write students:read students:write members:read members:write analytics:read',
  'curriculum:read curriculum:write orders:read school:read school:write appearance:read appearance:write',
  'events:read events:write membership_plans:read membership_plans:write coupons:read coupons:write',
  'posts:read posts:write subscriptions:read subscriptions:write digital_products:read digital_products:write',
  'comments:read lecturers:read lecturers:write storage:write forms:read pages:read pages:write',
  'account:read account:write',
].flatMap((line) => line.split(' '));

it('the bundled catalogue equals the contract’s', async () => {
  const { scopes } = (await load(SMALL)).config;
  expect(CONTRACT).toHaveLength(38);
  expect(Object.keys(scopes)).toEqual(CONTRACT);
  for (const [name, { kind, title }] of Object.entries(scopes)) {
    const isAboutPeople = /^(?:students|members|orders|subscriptions|forms):read$/.test(name);
    expect(kind).toBe(isAboutPeople ? 'people' : /:/.test(name) ? name.split(':')[1] : 'identity');
    expect(title).toEqual({
      en: expect.stringMatching(/^[A-Z][a-z].{5,}[^.]$/),
      es: expect.stringMatching(/^[A-Z][a-zñ].{5,}[^.]$/),
      de: expect.stringMatching(/^[A-Z][a-zäöü].{5,}[^.]$/),
      fr: expect.stringMatching(/^[A-ZÉ][a-zé].{5,}[^.]$/),
      ar: expect.stringMatching(/^\p{Script=Arabic}.{5,}[^.]$/u),
    });
  }
});
