import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { areaLabel, subjectsOf } from '../../../src/authorization-server/connected-apps/areas.ts';
import { approvalPage, decidedPage, noApprovalPage } from '../../../src/authorization-server/pages/approval.ts';
import {
  type AppsView,
  appsPage,
  appsSignInPage,
  disconnectPage,
} from '../../../src/authorization-server/pages/apps.ts';
import {
  type ConnectedApp,
  connectedAppPage,
  missingAppPage,
} from '../../../src/authorization-server/pages/connected-app.ts';
import { type AppProof, consentPage } from '../../../src/authorization-server/pages/consent.ts';
import { createDates, type Dates } from '../../../src/authorization-server/pages/dates.ts';
import { failurePage, refusalPage } from '../../../src/authorization-server/pages/error.ts';
import { type Frame, type MemberPage, renderPage } from '../../../src/authorization-server/pages/layout.ts';
import { loginPage, suspendedPage } from '../../../src/authorization-server/pages/login.ts';
import { accountPage, appsOnlyPage, documentPage, mcpPage } from '../../../src/authorization-server/pages/machine.ts';
import { PageFailure } from '../../../src/authorization-server/pages/page-failure.ts';
import { providersPage, signInPage } from '../../../src/authorization-server/pages/sign-in.ts';
import { signedOutPage } from '../../../src/authorization-server/pages/sign-out.ts';
import { type Catalogue, createWords, type Words } from '../../../src/authorization-server/pages/words.ts';
import { PAGE_LANGUAGES } from '../../../src/config/pages.ts';
import { type FailureCode, GatewayError } from '../../../src/errors.ts';
import { html } from '../../../src/http/html.ts';
import { load, SMALL } from '../../config/fixture.ts';

const retry = { offered: true, wait: undefined, home: '0', apps: '0', at: new Date(0), traceId: '0' };
const steps = { ...retry, offered: false };
const read = (language: string) =>
  JSON.parse(readFileSync(new URL(`../../../src/config/i18n/${language}.json`, import.meta.url), 'utf8')) as Catalogue;
const namesIn = (phrase: string) => [...phrase.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
const EN = read('en');

/** The end of the name of a phrase about a number. */
const FORM = /_(?:zero|one|two|few|many|other)$/;
const nameOf = (key: string) => (Object.hasOwn(EN, key.replace(FORM, '_other')) ? key.replace(FORM, '_') : key);
const namesOf = (catalogue: Catalogue) => [...new Set(Object.keys(catalogue).map(nameOf))];

/** Words that are the same in English. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  es: [],
  de: ['consent.details', 'apps.sort.name'],
  fr: ['apps.pages'],
  ar: [],
};
/** The plural forms of whole numbers. French and Spanish have one more, for millions. */
const FORMS: Readonly<Record<string, readonly string[]>> = {
  en: ['one', 'other'],
  es: ['one', 'other'],
  de: ['one', 'other'],
  fr: ['one', 'other'],
  ar: ['zero', 'one', 'two', 'few', 'many', 'other'],
};

describe.each(PAGE_LANGUAGES)('the catalogue %s', (language) => {
  const catalogue = read(language);

  it('has the same phrases and placeholders as the others', () => {
    expect(namesOf(catalogue)).toEqual(namesOf(EN));
    for (const [key, phrase] of Object.entries(catalogue)) {
      const english = EN[(key in EN ? key : key.replace(FORM, '_other')) as keyof Catalogue];
      const said = namesIn(phrase);
      // A form for a single number can say it in words.
      const expected = namesIn(english).filter(
        (name) => name !== 'count' || said.includes(name) || !/_(?:zero|one|two)$/.test(key),
      );
      expect(said, key).toEqual(expected);
    }
  });

  it('has every plural form of its language', () => {
    const counted = Object.keys(EN).filter((key) => key.endsWith('_other'));
    expect(counted).not.toEqual([]);
    const forms = FORMS[language] ?? [];
    for (const key of counted) {
      const own = Object.keys(catalogue).filter((one) => FORM.test(one) && nameOf(one) === nameOf(key));
      expect(own.sort(), key).toEqual(forms.map((form) => key.replace(FORM, `_${form}`)).sort());
    }
  });

  it('has no empty phrase, and states its writing direction', () => {
    expect(catalogue.direction).toMatch(/^(ltr|rtl)$/);
    for (const [key, phrase] of Object.entries(catalogue)) expect(phrase.trim(), key).toMatch(/./);
  });

  it('is not a copy of the English one', () => {
    if (language === 'en') return;
    const { direction: _, ...phrases } = catalogue;
    const same = Object.keys(phrases).filter(
      (key) => phrases[key as keyof typeof phrases] === EN[key as keyof Catalogue],
    );
    expect(same).toEqual(SAME[language]);
  });

  it('comes with a title of each bundled scope', async () => {
    for (const [name, { title }] of Object.entries((await load(SMALL)).config.scopes)) {
      expect((title as Record<string, string>)[language], name).toMatch(/^[\p{Lu}\p{Script=Arabic}]\p{L}.+[^.]$/u);
    }
  });
});

describe('the texts of the pages', () => {
  /**
   * A language in which every phrase is its own key in brackets, so that text outside of brackets cannot come from a
   * catalogue.
   */
  const marked = Object.fromEntries(
    Object.entries(EN).map(([key, phrase]) => [key, `⟦${key}⟧${namesIn(phrase).map((name) => `{${name}}`)}`]),
  ) as Catalogue;
  const words = createWords('en', '0', marked);
  const frame: Frame = {
    school: '0',
    stylesheetUrl: '0',
    logoUrl: '0',
    home: '0',
    apps: '0',
    support: '0',
    policyUri: '0',
    tosUri: '0',
  };
  const own = { token: '0', title: '0', area: 'school', people: false, had: true, box: 'ticked' } as const;
  const scopes = (...boxes: ('ticked' | 'unticked' | 'always')[]) => boxes.map((box) => ({ ...own, box }));
  const ten = scopes(...Array.from({ length: 10 }, () => 'ticked' as const));
  const app = {
    name: undefined,
    posing: undefined,
    proof: { kind: 'none' },
    destination: { kind: 'computer' },
    policy: undefined,
    terms: undefined,
  } as const;
  const view = {
    app,
    account: '0',
    permissions: { reads: scopes('ticked', 'always'), writes: scopes('unticked'), held: [] },
    action: '0',
    switchAccount: '0',
    csrf: '0',
    nothingTicked: true,
    ownSession: true,
    connection: undefined,
    endsAt: 0,
    connectedApps: '0',
  };
  const dates: Dates = {
    day: () => html`0`,
    moment: () => html`0`,
    shortDay: () => html`0`,
    dayOfUse: () => '0',
    ago: () => '0',
    zone: '0',
  };
  const names = { scopes: {}, tools: new Map() };
  const did = (...areas: string[]) => areas.map((area) => ({ label: areaLabel(area, names), count: 2, last: 0 }));
  const connected = {
    app: { name: '0', posing: 'school', proof: { kind: 'none' }, destinations: [{ kind: 'host', host: '0' }] },
    connections: [{ connectedAt: 0, lastUsedAt: undefined, disconnect: '0' }],
    ownSession: true,
    olderConnections: 1,
    all: '0',
    details: '0',
    changes: subjectsOf(['account:write'], names),
    sees: subjectsOf(['orders:read'], names),
    connectedAt: 0,
    lastUsedAt: 0,
    endsAt: 0,
    did: {
      approvals: did('approval:given', 'approval:declined', 'approval:used'),
      changes: did('change:savePlaybackPosition', 'change:cancelEventRegistration', 'change:0'),
      reads: [
        { label: areaLabel('scope:0 0', names), count: 1, last: 0 },
        ...did(
          'scope:openid',
          'field:viewer.id',
          'field:viewer.email',
          'field:viewer.enrolledCourses',
          'field:viewer.orders',
        ),
        ...did('field:viewer.eventRegistrations', 'field:0', 'tool:0', 'route:0', 'other'),
      ],
    },
    days: [
      { day: 0, reads: 0, changes: 0 },
      { day: 1, reads: 1000, changes: 1 },
    ],
    redeemed: true,
    disconnect: '0',
  } as const satisfies AppsView['apps'][number] & ConnectedApp;
  const apps: AppsView = {
    account: '0',
    signOut: { action: '0', fields: { csrf: '0' } },
    done: 'app',
    apps: [connected],
    total: 11,
    filter: { asked: { q: '0', sort: 'name' }, counts: { all: 3, change: 2, unused: 1 } },
    range: { first: 1, last: 1, count: 11 },
    previous: '0',
    next: '0',
    disconnectAll: '0',
  };
  const proved = (proof: AppProof) => ({
    ...connected,
    app: { name: undefined, posing: undefined, destinations: [], proof },
    lastUsedAt: undefined,
    endsAt: undefined,
    did: { approvals: [], changes: [], reads: [] },
  });
  const question = { name: '0', all: undefined, action: '0', fields: { all: '0' }, cancel: '0' };
  const call = {
    ...{ app: connected.app, account: '0', titles: ['0'], request: '0', left: 0, action: '0', csrf: '0' },
    given: [
      { name: '0', label: '0', text: '0' },
      { name: '0', label: undefined, text: '0', meaning: '0' },
    ],
    preview: [{ name: '0', text: '0' }],
    content: { type: '0', bytes: 0, sha256: '0' },
  };
  const cancel = { action: '0', csrf: '0' };
  const posing = { name: '0', posing: 'school' } as const;
  const brand = { owner: '0', domains: ['0'] };
  const signIn = { action: '0', returnTo: '0', csrf: '0', username: '0', problem: 'sign_in.wrong' } as const;
  const mcp = {
    ...{ address: '0', open: '0', documentation: '0' },
    commands: [{ program: '0', command: '0' }],
  };
  const url = new URL('https://0.0.0.0/');
  const refusal = { detail: '0', requestId: '0' };
  const pages: Record<string, (words: Words) => MemberPage> = {
    'consent of an app without a name': (words) => consentPage(words, dates, view),
    'consent of a posing app': (words) =>
      consentPage(words, dates, { ...view, app: { ...app, name: '0', posing: 'school', policy: url, terms: url } }),
    'consent of an app with the name of a company': (words) =>
      consentPage(words, dates, {
        ...view,
        app: { ...app, name: '0', posing: brand, destination: { kind: 'host', host: '0' } },
      }),
    'consent of a proved app': (words) =>
      consentPage(words, dates, {
        ...view,
        app: {
          ...app,
          proof: { kind: 'proved', host: '0', elsewhere: false },
          destination: { kind: 'host', host: '0' },
        },
      }),
    'consent of an app that asks for much': (words) =>
      consentPage(words, dates, {
        ...view,
        permissions: { reads: [...ten, { ...own, area: 'you' }], writes: ten, held: [] },
      }),
    'consent of an app that asks for more': (words) =>
      consentPage(words, dates, {
        ...view,
        connection: { since: 0, asksForMore: true },
        permissions: { ...view.permissions, held: ten },
      }),
    'consent of an app that asks for what roles in courses allow': (words) =>
      consentPage(words, dates, {
        ...view,
        permissions: {
          reads: [
            { ...own, courses: { roles: ['instructor'], count: 1 } },
            { ...own, courses: { roles: ['0'], count: 1 } },
          ],
          writes: [],
          held: [],
        },
      }),
    'consent of an app that asks again': (words) =>
      consentPage(words, dates, {
        ...view,
        connection: { since: 0, asksForMore: false },
      }),
    'consent of an app that leads elsewhere': (words) =>
      consentPage(words, dates, {
        ...view,
        app: {
          ...app,
          proof: { kind: 'proved', host: '0', elsewhere: true },
          destination: { kind: 'host', host: '0' },
        },
      }),
    'consent of a claimed app': (words) =>
      consentPage(words, dates, {
        ...view,
        app: { ...app, proof: { kind: 'claimed', host: '0' }, destination: { kind: 'scheme', scheme: '0' } },
      }),
    'connected apps': (words) => appsPage(words, dates, apps),
    'connected apps of every proof': (words) =>
      appsPage(words, dates, {
        ...apps,
        done: 'all',
        apps: [
          proved({ kind: 'proved', host: '0', elsewhere: true }),
          proved({ kind: 'claimed', host: '0' }),
          { ...connected, app: { ...connected.app, posing: brand } },
          { ...proved({ kind: 'none' }), redeemed: false },
          { ...connected, app: undefined },
        ],
      }),
    'a connected app': (words) => connectedAppPage(words, dates, connected),
    'a connected app that was never used': (words) =>
      connectedAppPage(words, dates, proved({ kind: 'proved', host: '0', elsewhere: true })),
    'a connected app of a claimed domain': (words) =>
      connectedAppPage(words, dates, proved({ kind: 'claimed', host: '0' })),
    'a connected app that is gone': (words) => connectedAppPage(words, dates, { ...connected, app: undefined }),
    'an app that is not connected': (words) => missingAppPage(words, '0'),
    'no connected app that matches': (words) => appsPage(words, dates, { ...apps, apps: [] }),
    'no connected apps': (words) => appsPage(words, dates, { ...apps, done: undefined, apps: [], total: 0 }),
    'disconnecting an app': (words) => disconnectPage(words, { ...question, what: 'app' }),
    'disconnecting a connection': (words) => disconnectPage(words, { ...question, what: 'connection' }),
    'disconnecting all': (words) =>
      disconnectPage(words, {
        ...{ ...question, what: 'all', name: undefined },
        all: { count: 11, apps: [...Array.from({ length: 9 }, () => ({ name: '0', host: '0' })), {}] },
      }),
    'approval of a call': (words) => approvalPage(words, call),
    'approval of a call without arguments': (words) =>
      approvalPage(words, {
        ...call,
        app: undefined,
        request: undefined,
        given: [],
        preview: undefined,
        content: undefined,
      }),
    'an approved call': (words) => decidedPage(words, 'approved', 0),
    'a declined call': (words) => decidedPage(words, 'declined', 0),
    'no call to approve': (words) => noApprovalPage(words, { account: '0', signOut: undefined }),
    'sign-in to connected apps': (words) => appsSignInPage(words, '0'),
    login: (words) => loginPage(words, { app: posing, account: undefined, signIn: '0', cancel }),
    'login again': (words) => loginPage(words, { app: undefined, account: '0', signIn: '0', cancel }),
    suspended: (words) => suspendedPage(words, { app: undefined, account: '0', cancel }),
    'sign-in to an app': (words) => signInPage(words, { ...signIn, purpose: { kind: 'app', app: posing, cancel } }),
    'sign-in of a suspended member': (words) =>
      signInPage(words, { ...signIn, problem: 'sign_in.suspended', purpose: { kind: 'unknown' } }),
    'signed out': (words) => signedOutPage(words, '0'),
    'sign-in to see apps': (words) => signInPage(words, { ...signIn, purpose: { kind: 'connected-apps', back: '0' } }),
    'sign-in with a provider': (words) =>
      providersPage(words, [{ name: '0', href: '0' }], { kind: 'app', app: undefined, cancel }),
    mcp: (words) => mcpPage(words, mcp, false),
    'mcp, public': (words) => mcpPage(words, mcp, true),
    'refused address': (words) => appsOnlyPage(words, 401, '0'),
    'address without a GET': (words) => appsOnlyPage(words, 405, '0'),
    'Account API': (words) => accountPage(words, { ...mcp, query: undefined }),
    'auth.md': (words) => documentPage(words, 'document.auth.title', html``),
    'openapi.json': (words) => documentPage(words, 'document.openapi.title', html``),
    refusal: (words) => refusalPage(words, { code: '0', ...refusal, app: { name: '0', host: '0' } }, steps),
    failure: (words) => failurePage(words, new GatewayError('invalid_request', { message: '0' }), '0', retry),
    'failure of ours': (words) => failurePage(words, new PageFailure('internal', 'failure.app_gone'), '0', retry),
  };

  it.each(Object.entries(pages))('%s: all come from the catalogue', (_name, page) => {
    const text = renderPage(page(words), words, frame);
    const body = text.slice(text.indexOf('<title>'));
    const said = body
      .replace(/⟦[^⟧]*⟧/g, '')
      // As Intl has it in the language of the page.
      .replace(/0 (seconds|bytes)/g, '')
      .replaceAll('SHA-256', '')
      .replace(/<code lang="en" dir="ltr">.*?<\/code>/s, '')
      .replace(/<[^>]*>/g, ' ');
    expect(said).not.toMatch(/\p{L}/u);
    // And no text in attributes either.
    expect(body).not.toMatch(/\b(aria-label|alt|title|placeholder|value)="[^"]*[A-Z ][^"]*"/);
  });

  it.each(Object.entries(pages))('%s: no placeholder is left', (_name, page) => {
    for (const language of PAGE_LANGUAGES) {
      const words = createWords(language, '0');
      const text = renderPage(page(words), words, frame);
      expect(text).not.toMatch(/[{}]|undefined|<bdi><\/bdi>/);
    }
  });

  it.each<FailureCode>(['not_found', 'login_unavailable', 'upstream_timeout', 'store_unavailable'])(
    'explain %s in each language',
    (code) => {
      for (const language of PAGE_LANGUAGES) {
        const words = createWords(language, '0');
        expect(failurePage(words, new GatewayError(code), '0', retry).body.text).toContain(
          read(language)[`failure.${code}`],
        );
      }
    },
  );

  it.each<[string, readonly string[]]>([
    ['en', ['0 apps will', '1 app will', '2 apps will', '1,000 apps will'].map((text) => `${text} be disconnected:`)],
    [
      'fr',
      ['0 application sera déconnectée :', '1 application sera déconnectée :', '2 applications seront déconnectées :'],
    ],
    ['ar', ['لن يُلغى ربط أي تطبيق.', 'سيُلغى ربط تطبيق واحد:', 'سيُلغى ربط تطبيقين:', 'سيُلغى ربط 1,000 تطبيق:']],
  ])('have numbers in the plural form of %s', (language, texts) => {
    const words = createWords(language, 'School');
    expect([0, 1, 2, 1000].slice(0, texts.length).map((count) => words.count('apps.ask.these', count).text)).toEqual(
      texts,
    );
  });

  it('have the dates of the language, in Arabic too with the Gregorian calendar and the digits 0 to 9', () => {
    const moment = (language: string) =>
      createDates(createWords(language, 'School').locales, 'UTC', 0)
        .moment(1_795_000_000)
        .text.replace(/<[^>]*>/g, '');
    expect(['en', 'es', 'de', 'fr', 'ar', 'xx'].map(moment)).toEqual([
      '18 Nov 2026, 11:06',
      '18 nov 2026, 11:06',
      '18. Nov. 2026, 11:06',
      '18 nov. 2026, 11:06',
      '18 نوفمبر 2026، 11:06',
      '18 Nov 2026, 11:06',
    ]);
  });

  it('isolate inserted values from the text around them', () => {
    const words = createWords('en', 'School');
    expect(words.html('consent.heading', { app: 'דפי <לימוד>' }).text).toBe(
      '<bdi>דפי &lt;לימוד&gt;</bdi> asks for access to your account',
    );
    expect(words.html('help').text).toBe('Get help from <bdi>School</bdi>');
    expect(words.text('consent.title', { app: 'דפי' })).toBe('\u2068דפי\u2069 asks for access');
    expect(words.text('consent.title', { app: 'App' })).toBe('App asks for access');
    expect(createWords('ar', 'School').text('consent.title', { app: 'C++' })).toContain('\u2068C++\u2069');
  });

  it('fill each placeholder once, so that braces in a value are text', () => {
    const words = createWords('en', '{account}');
    expect(words.html('login.again.text', { app: 'Buddy', account: '{school}{constructor}' }).text).toBe(
      'You are signed in as <bdi>{school}{constructor}</bdi>, but <bdi>Buddy</bdi> wants you to sign in again. It is still waiting for you. If <bdi>{account}</bdi> does not ask for your password, sign out there first.',
    );
  });

  it('use an operator’s text in another language rather than none', () => {
    const spanish = (text: Parameters<Words['own']>[0]) => createWords('es', 'School').own(text).text;
    expect(spanish({ en: 'See', es: 'Ver' })).toBe('Ver');
    expect(spanish('See')).toBe('<bdi>See</bdi>');
    expect(spanish({ en: 'See' })).toBe('<bdi lang="en">See</bdi>');
    expect(spanish({ de: 'Sehen', en: 'See' })).toBe('<bdi lang="en">See</bdi>');
    expect(spanish({ de: 'Sehen' })).toBe('<bdi lang="de">Sehen</bdi>');
    expect(createWords('es-MX', 'School').own({ en: 'See', es: 'Ver' }).text).toBe('Ver');
  });
});
