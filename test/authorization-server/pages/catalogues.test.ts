import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { areaLabel } from '../../../src/authorization-server/connected-apps/areas.ts';
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
import type { Dates } from '../../../src/authorization-server/pages/dates.ts';
import { failurePage, refusalPage } from '../../../src/authorization-server/pages/error.ts';
import { type Frame, type Page, renderPage } from '../../../src/authorization-server/pages/layout.ts';
import { loginPage, suspendedPage } from '../../../src/authorization-server/pages/login.ts';
import { PageFailure } from '../../../src/authorization-server/pages/page-failure.ts';
import { type Catalogue, createWords, type Words } from '../../../src/authorization-server/pages/words.ts';
import { PAGE_LANGUAGES } from '../../../src/config/pages.ts';
import { type FailureCode, GatewayError } from '../../../src/errors.ts';
import { html } from '../../../src/http/html.ts';
import { load, SMALL } from '../../config/fixture.ts';

const read = (language: string) =>
  JSON.parse(
    readFileSync(new URL(`../../../src/authorization-server/pages/i18n/${language}.json`, import.meta.url), 'utf8'),
  ) as Catalogue;
const namesIn = (phrase: string) => [...phrase.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
const EN = read('en');

describe.each(PAGE_LANGUAGES)('the catalogue %s', (language) => {
  const catalogue = read(language);

  it('has the same phrases and placeholders as the others', () => {
    expect(Object.keys(catalogue)).toEqual(Object.keys(EN));
    for (const [key, phrase] of Object.entries(catalogue)) {
      expect(namesIn(phrase), key).toEqual(namesIn(EN[key as keyof Catalogue]));
    }
  });

  it('has no empty phrase, and states its writing direction', () => {
    expect(catalogue.direction).toMatch(/^(ltr|rtl)$/);
    for (const [key, phrase] of Object.entries(catalogue)) expect(phrase.trim(), key).toMatch(/./);
  });

  it('is not a copy of the English one', () => {
    if (language === 'en') return;
    const { direction: _, ...phrases } = catalogue;
    const same = Object.entries(phrases).filter(([key, phrase]) => phrase === EN[key as keyof Catalogue]);
    // A word that is the same in both languages.
    expect(same).toEqual([['error.code', 'Error']]);
  });

  it('comes with a title of each bundled scope', async () => {
    for (const [name, { title }] of Object.entries((await load(SMALL)).config.scopes)) {
      expect((title as Record<string, string>)[language], name).toMatch(/^\p{Lu}\p{L}.+[^.]$/u);
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
  const frame: Frame = { school: '0', stylesheetUrl: '0', logoUrl: '0', support: '0' };
  const group = (kind: 'identity' | 'read' | 'write') => ({
    kind,
    scopes: (['ticked', 'unticked', 'always'] as const).map((box) => ({ token: '0', title: '0', box })),
  });
  const app = {
    name: undefined,
    posing: false,
    proof: { kind: 'none' },
    destination: { kind: 'computer' },
    policy: undefined,
    terms: undefined,
  } as const;
  const view = {
    app,
    account: '0',
    groups: [group('identity'), group('read'), group('write')],
    action: '0',
    switchAccount: '0',
    csrf: '0',
    nothingTicked: true,
    ownSession: true,
    firstTime: true,
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
    app: { name: '0', posing: true, proof: { kind: 'none' }, destinations: [{ kind: 'host', host: '0' }] },
    connections: [{ connectedAt: 0, lastUsedAt: undefined, disconnect: '0' }],
    ownSession: true,
    olderConnections: 1,
    all: '0',
    details: '0',
    canChange: true,
    changes: ['0'],
    sees: ['0'],
    connectedAt: 0,
    lastUsedAt: 0,
    endsAt: 0,
    did: {
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
    disconnect: '0',
  } as const satisfies AppsView['apps'][number] & ConnectedApp;
  const apps: AppsView = {
    account: '0',
    done: 'app',
    apps: [connected],
    total: 11,
    previous: '0',
    next: '0',
    disconnectAll: '0',
    back: '0',
  };
  const proved = (proof: AppProof) => ({
    ...connected,
    app: { name: undefined, posing: false, destinations: [], proof },
    lastUsedAt: undefined,
    endsAt: undefined,
    did: { changes: [], reads: [] },
  });
  const question = { name: '0', action: '0', fields: { all: '0' }, cancel: '0' };
  const cancel = { action: '0', csrf: '0' };
  const url = new URL('https://0.0.0.0/');
  const refusal = { detail: '0', requestId: '0' };
  const pages: Record<string, (words: Words) => Page> = {
    'consent of an app without a name': (words) => consentPage(words, view),
    'consent of a posing app': (words) =>
      consentPage(words, { ...view, app: { ...app, name: '0', posing: true, policy: url, terms: url } }),
    'consent of a proved app': (words) =>
      consentPage(words, {
        ...view,
        app: {
          ...app,
          proof: { kind: 'proved', host: '0', elsewhere: true },
          destination: { kind: 'host', host: '0' },
        },
      }),
    'consent of a claimed app': (words) =>
      consentPage(words, {
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
    'no connected apps': (words) => appsPage(words, dates, { ...apps, done: undefined, apps: [], total: 0 }),
    'disconnecting an app': (words) => disconnectPage(words, { ...question, what: 'app' }),
    'disconnecting a connection': (words) => disconnectPage(words, { ...question, what: 'connection' }),
    'disconnecting all': (words) => disconnectPage(words, { ...question, what: 'all', name: undefined }),
    'sign-in to connected apps': (words) => appsSignInPage(words, { signIn: '0', back: '0' }),
    login: (words) => loginPage(words, { account: undefined, signIn: '0', cancel }),
    'login again': (words) => loginPage(words, { account: '0', signIn: '0', cancel }),
    suspended: (words) => suspendedPage(words, { account: '0', cancel }),
    refusal: (words) => refusalPage(words, { code: '0', ...refusal, app: { name: '0', host: '0' } }),
    failure: (words) =>
      failurePage(words, new GatewayError('invalid_request', { message: '0' }), { requestId: '0', traceId: '0' }),
    'failure of ours': (words) =>
      failurePage(words, new PageFailure('internal', 'failure.app_gone'), { requestId: '0' }),
  };

  it.each(Object.entries(pages))('%s: all come from the catalogue', (_name, page) => {
    const text = renderPage(page(words), words, frame);
    const body = text.slice(text.indexOf('<title>'));
    const said = body
      .replace(/⟦[^⟧]*⟧/g, '')
      .replace(/<code>(internal|invalid_request)<\/code>/, '')
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
        expect(failurePage(words, new GatewayError(code), { requestId: '0' }).body.text).toContain(
          read(language)[`failure.${code}`],
        );
      }
    },
  );

  it('isolate inserted values from the text around them', () => {
    const words = createWords('en', 'School');
    expect(words.html('consent.heading', { app: 'דפי <לימוד>' }).text).toBe(
      '<bdi>דפי &lt;לימוד&gt;</bdi> asks for access to your account at <bdi>School</bdi>',
    );
    expect(words.text('consent.title', { app: 'דפי' })).toBe('\u2068דפי\u2069 asks for access');
    expect(words.text('consent.title', { app: 'App' })).toBe('App asks for access');
  });

  it('fill each placeholder once, so that braces in a value are text', () => {
    const words = createWords('en', '{app}');
    expect(words.html('consent.heading', { app: '{school}{constructor}' }).text).toBe(
      '<bdi>{school}{constructor}</bdi> asks for access to your account at <bdi>{app}</bdi>',
    );
  });

  it('use an operator’s text in another language rather than none', () => {
    const spanish = createWords('es', 'School');
    expect(spanish.own('See')).toBe('See');
    expect(spanish.own({ en: 'See', es: 'Ver' })).toBe('Ver');
    expect(spanish.own({ en: 'See' })).toBe('See');
  });
});
