import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationRequest, registerApp } from '../support/app.ts';
import { type Browser, createBrowser, type Page } from '../support/browser.ts';
import { startWorld, type World } from '../support/world.ts';
import { type ScriptedIdp, startScriptedIdp } from './support/scripted-idp.ts';

let idp: ScriptedIdp;
let world: World;

const settings = (provider: Record<string, unknown>) => ({
  login: {
    kind: 'oidc',
    providers: [{ id: 'idp', name: 'School', issuer: idp.issuer, clientId: 'gate', ...provider }],
  },
});

beforeAll(async () => {
  idp = await startScriptedIdp();
  world = await startWorld({ profile: 'A', overrides: settings({}) });
});
afterAll(async () => {
  await world.close();
  await idp.close();
});
beforeEach(() => idp.reset());

/** Signs in with this provider configuration and these claims. Returns the consent page, or the page shown instead. */
const signIn = async (
  provider: Record<string, unknown>,
  claims: Record<string, unknown>,
  parameters: Record<string, string> = {},
): Promise<{ browser: Browser; page: Page }> => {
  await world.restart(settings(provider));
  idp.claims = claims;
  const browser = createBrowser();
  return {
    browser,
    page: await browser.open((await authorizationRequest(await registerApp(world.origin), parameters)).url),
  };
};

const SAM = { sub: 'u-1', email: 'sam@school.test', email_verified: true };

describe('an account at an OpenID provider', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['with a verified email, if required', { requireVerifiedEmail: true }, SAM],
    [
      'verified with a string, as some providers send it',
      { requireVerifiedEmail: true },
      { ...SAM, email_verified: 'true' },
    ],
    ['of the domain, in any case', { allow: { emailDomains: ['School.test'] } }, { ...SAM, email: 'Sam@SCHOOL.test' }],
    ['in the group', { allow: { claims: { groups: ['pupils'] } } }, { ...SAM, groups: ['staff', 'pupils'] }],
    ['with the one value', { allow: { claims: { hd: ['school.test'] } } }, { ...SAM, hd: 'school.test' }],
    ['whose email is not verified, if not required', {}, { ...SAM, email_verified: false }],
  ])('%s is admitted', async (_, provider, claims) => {
    const { page } = await signIn(provider, claims);
    expect(page.text).toContain('id="consent"');
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['with an email that is not verified', { requireVerifiedEmail: true }, { ...SAM, email_verified: false }],
    ['without email_verified', { requireVerifiedEmail: true }, { ...SAM, email_verified: undefined }],
    ['without any email', { requireVerifiedEmail: true }, { sub: 'u-1', email_verified: true }],
    ['of another domain', { allow: { emailDomains: ['school.test'] } }, { ...SAM, email: 'sam@evil.test' }],
    ['of a subdomain', { allow: { emailDomains: ['school.test'] } }, { ...SAM, email: 'sam@a.school.test' }],
    ['of a longer domain', { allow: { emailDomains: ['school.test'] } }, { ...SAM, email: 'sam@evilschool.test' }],
    ['with two @', { allow: { emailDomains: ['school.test'] } }, { ...SAM, email: 'sam@evil.test@school.test' }],
    ['with a quoted @', { allow: { emailDomains: ['school.test'] } }, { ...SAM, email: '"sam@evil.test"@school.test' }],
    ['of the domain, not verified', { allow: { emailDomains: ['school.test'] } }, { ...SAM, email_verified: false }],
    ['outside the group', { allow: { claims: { groups: ['pupils'] } } }, { ...SAM, groups: ['pupils2'] }],
    ['without the claim', { allow: { claims: { groups: ['pupils'] } } }, SAM],
    ['with a string instead of true', { allow: { claims: { active: [true] } } }, { ...SAM, active: 'true' }],
    ['identified by an unverified email', { claims: { subject: 'email' } }, { ...SAM, email_verified: false }],
    [
      'known by an email under another name that is not verified',
      { claims: { subject: 'mail', email: 'mail' } },
      { ...SAM, mail: 'sam@school.test', email_verified: false },
    ],
    [
      'known by the one email, shown by another, neither verified',
      { claims: { subject: 'email', email: 'mail' } },
      { ...SAM, mail: 'sam@school.test', email_verified: false },
    ],
  ])('%s is refused, with a link to choose another', async (_, provider, claims) => {
    const { browser, page } = await signIn(provider, claims);
    expect(page.status).toBe(403);
    expect(page.text).toContain('The account you chose cannot be used here.');
    expect(browser.cookies.has('coursegate_member')).toBe(false);
  });

  it('can be switched after a refusal, with prompt=select_account', async () => {
    await signIn({ allow: { emailDomains: ['school.test'] } }, { ...SAM, email: 'sam@evil.test' });
    expect(idp.asked.get('prompt')).toBe('select_account');
    await signIn({ allow: { emailDomains: ['school.test'] }, prompt: 'login' }, SAM);
    expect(idp.asked.get('prompt')).toBe('login');
    await signIn({}, SAM);
    expect(idp.asked.has('prompt')).toBe(false);
    await signIn({}, SAM, { prompt: 'select_account' });
    expect(idp.asked.get('prompt')).toBe('select_account');
  });

  it('is not shown with an unverified email', async () => {
    const { page } = await signIn({}, { ...SAM, email_verified: false, name: 'Sam Student' });
    expect(page.text).toContain('Sam Student');
    expect(page.text).not.toContain('sam@school.test');
  });

  it('has the email and email_verified of the same response', async () => {
    idp.userinfo = { sub: 'u-1', email: 'sam@school.test', email_verified: true };
    const claims = { sub: 'u-1', email: 'other@school.test', email_verified: undefined };
    const { page } = await signIn({ claims: { subject: 'email' } }, claims);
    expect(page.text).toContain('sam@school.test');
    expect(page.text).not.toContain('other@school.test');
    idp.userinfo = { sub: 'u-1', email: 'other@school.test' };
    expect((await signIn({}, { ...SAM, name: undefined })).page.text).not.toContain('other@school.test');
    // Userinfo without the email says nothing about that of the ID token.
    idp.userinfo = { sub: 'u-1', email_verified: true };
    expect((await signIn({}, { ...SAM, email_verified: false })).page.text).not.toContain('sam@school.test');
    idp.userinfo = { sub: 'u-1', email_verified: false };
    expect((await signIn({}, SAM)).page.text).toContain('sam@school.test');
  });

  it('has the acr of the ID token, not of userinfo', async () => {
    idp.userinfo = { sub: 'u-1', acr: 'urn:mfa' };
    const provider = { allow: { claims: { acr: ['urn:mfa'] } } };
    expect((await signIn(provider, SAM)).page.status).toBe(403);
    expect((await signIn(provider, { ...SAM, acr: 'urn:password' })).page.status).toBe(403);
    expect((await signIn(provider, { ...SAM, acr: 'urn:mfa' })).page.status).toBe(200);
  });

  it('is refused when userinfo is about another subject', async () => {
    idp.userinfo = { sub: 'u-2', email: 'sam@school.test', email_verified: true };
    expect((await signIn({}, { sub: 'u-1' })).page.status).toBe(400);
  });

  it.each<[Record<string, unknown>, Record<string, unknown>, number]>([
    [{ claims: { subject: 'school_id' } }, { ...SAM, school_id: '' }, 503],
    [{ claims: { subject: 'school_id' } }, { ...SAM, school_id: ['1001'] }, 503],
    [{ claims: { subject: 'school_id' } }, SAM, 503],
    [{ claims: { subject: 'school_id' } }, { ...SAM, school_id: 1001 }, 200],
  ])('with %o and %o gets %i', async (provider, claims, status) => {
    expect((await signIn(provider, claims)).page.status).toBe(status);
  });
});
