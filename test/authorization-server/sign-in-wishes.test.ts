import { describe, expect, it } from 'vitest';
import {
  mustSignIn,
  type SignInWishes,
  type VisitKind,
} from '../../src/authorization-server/interactions/sign-in-wishes.ts';

const ASKED = 1_800_000_000;
const NOW = ASKED + 30;

const NONE: SignInWishes = { fresh: false, maxAge: undefined, acrValues: [], askedAt: ASKED };
const FRESH = { fresh: true };
const TEN_MINUTES = { maxAge: 600 };
const STRONG = { acrValues: ['strong', 'stronger'] };

describe('whether a signed-in member must sign in again', () => {
  it.each<[string, Partial<SignInWishes>, { authTime?: number; acr?: string }, VisitKind, boolean]>([
    ['nothing is asked', {}, {}, 'first-visit', false],
    ['nothing is asked, of a sign-in long ago', {}, { authTime: 1 }, 'first-visit', false],

    ['prompt=login', FRESH, {}, 'first-visit', true],
    ['prompt=login, unknown when, and they have been there', FRESH, {}, 'back-from-sign-in', true],
    ['prompt=login, signed in before', FRESH, { authTime: ASKED - 1 }, 'first-visit', true],
    ['prompt=login, back without having signed in', FRESH, { authTime: ASKED - 1 }, 'back-from-sign-in', true],
    ['prompt=login, signed in since', FRESH, { authTime: ASKED }, 'back-from-sign-in', false],
    ['prompt=login, signed in since in another tab', FRESH, { authTime: NOW }, 'first-visit', false],

    ['max_age, unknown when', TEN_MINUTES, {}, 'first-visit', true],
    ['max_age, unknown when, and they have been there', TEN_MINUTES, {}, 'back-from-sign-in', true],
    ['max_age, long ago', TEN_MINUTES, { authTime: NOW - 601 }, 'first-visit', true],
    ['max_age, still long ago', TEN_MINUTES, { authTime: NOW - 601 }, 'back-from-sign-in', true],
    ['max_age, just in time', TEN_MINUTES, { authTime: NOW - 600 }, 'first-visit', false],
    ['max_age=0', { maxAge: 0 }, { authTime: NOW - 1 }, 'first-visit', true],
    ['max_age=0, this second', { maxAge: 0 }, { authTime: NOW }, 'back-from-sign-in', false],

    ['acr_values, unknown how', STRONG, {}, 'first-visit', true],
    ['acr_values, met', STRONG, { acr: 'stronger' }, 'first-visit', false],
    ['acr_values, not met', STRONG, { acr: 'weak' }, 'first-visit', true],
    ['acr_values, a wish that was asked once', STRONG, { acr: 'weak' }, 'back-from-sign-in', false],

    [
      'max_age met and acr_values not',
      { ...TEN_MINUTES, ...STRONG },
      { authTime: NOW, acr: 'weak' },
      'first-visit',
      true,
    ],
  ])('is decided for: %s', (_name, wishes, known, step, expected) => {
    const member = {
      sub: 'm-1',
      email: undefined,
      name: undefined,
      authTime: undefined,
      acr: undefined,
      version: undefined,
      ...known,
    };
    expect(mustSignIn({ ...NONE, ...wishes }, member, step, NOW)).toBe(expected);
  });
});
