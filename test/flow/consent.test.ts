import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  answerJson,
  type DocumentHost,
  plainDocument,
  startDocumentHost,
} from '../authorization-server/client-documents/support/document-host.ts';
import { type App, authorizationRequest, bearer, redeem, registerApp } from '../support/app.ts';
import { type Browser, createBrowser, type Page } from '../support/browser.ts';
import { SCOPES } from '../support/catalogue.ts';
import { connect } from '../support/connection.ts';
import { OLU, offeredScopes, reachConsent, SAM, signIn, tickedScopes } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

const textOf = (markup: string) => markup.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');

/** What a member reads without opening anything. */
const visibleTextOf = (markup: string) =>
  textOf(
    markup.replace(
      /<details(?: class="[^"]*")?>\s*(<summary>.*?<\/summary>).*?<\/details>/gs,
      (_all, summary) => summary,
    ),
  );

describe('the consent page', () => {
  let world: World;
  let app: App;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
    app = await registerApp(world.origin);
  });
  afterAll(() => world.close());

  const toApp = (location: string) => !location.startsWith(app.redirectUri);
  const open = async (by = app, parameters: Record<string, string> = {}) => {
    const request = await authorizationRequest(by, parameters);
    return { request, ...(await reachConsent(request.url)) };
  };
  const csrfOf = (page: Page) => /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const post = (
    browser: Browser,
    url: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(fields),
      headers: {
        accept: 'text/html',
        cookie: [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; '),
        ...headers,
      },
    });

  const expectErrorPage = (page: { status: number; text: string; location?: string | undefined }, status: number) => {
    expect(page.status).toBe(status);
    expect(page.location).toBeUndefined();
    expect(page.text).toContain('<main id="error">');
    expect(page.text).not.toMatch(/\bat \S+:\d|node_modules|\/src\//);
  };

  it('says which app asks, for which account, for what, and where it leads', async () => {
    const { page } = await open();
    expect(page.status).toBe(200);
    expect(page.text).toContain('<main id="consent">');
    for (const words of [
      'Test App',
      'Harbour Lane School',
      'student@example.com',
      'app.example',
      'Browse the course catalogue',
    ]) {
      expect(page.text).toContain(words);
    }
    expect(offeredScopes(page)).toEqual(['profile', 'email', 'account:read', 'courses:read']);
  });

  it('runs no scripts, cannot be framed or cached, and works without scripts', async () => {
    const { page } = await open();
    const { headers } = page;
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'/);
    expect(headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/);
    expect(headers.get('content-security-policy')).toMatch(/base-uri 'none'/);
    expect(headers.get('content-security-policy')).not.toMatch(/unsafe|form-action|script-src/);
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(page.text).not.toMatch(/<script|style=|\son\w+=/);
  });

  it('shows markup in the name of an app as text', async () => {
    const name = '</h1><script>alert(1)</script><img src=x onerror=alert(1)> & "';
    const { page } = await open(await registerApp(world.origin, { metadata: { client_name: name } }));
    expect(page.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt; &amp;');
    expect(page.text).not.toMatch(/<script|<img src=x/);
  });

  it('returns the member to the app with access_denied, state and iss when they deny', async () => {
    const { request, browser, page } = await open();
    const { location } = await browser.submit(page, { decision: 'deny' }, toApp);
    const returned = new URL(location ?? '');
    expect(returned.origin + returned.pathname).toBe('https://app.example/callback');
    expect(returned.searchParams.get('error')).toBe('access_denied');
    expect(returned.searchParams.get('state')).toBe(request.state);
    expect(returned.searchParams.get('iss')).toBe(world.origin);
    expect(returned.searchParams.has('code')).toBe(false);
  });

  it('returns the member to the app by GET, without a referrer, when they approve', async () => {
    const { request, browser, page } = await open();
    const last = await browser.submit(page, { decision: 'approve', scope: 'courses:read' }, toApp);
    expect(last.status).toBe(303);
    expect(last.headers.get('referrer-policy')).toBe('no-referrer');
    expect(last.headers.get('cache-control')).toBe('no-store');
    const returned = new URL(last.location ?? '');
    expect([...returned.searchParams.keys()]).toEqual(['code', 'state', 'iss']);
    expect((await redeem(app, request, returned)).scope).toBe('openid courses:read');
  });

  it('grants what was requested and ticked, and nothing that a form adds', async () => {
    const { request, browser, page } = await open(app, { scope: 'openid courses:read orders:read' });
    const scope = ['courses:read', 'courses:write', 'nonsense'];
    const last = await browser.submit(page, { decision: 'approve', scope, held: 'students:read' }, toApp);
    const { scope: granted, access_token: token } = await redeem(app, request, new URL(last.location ?? ''));
    expect(granted).toBe('openid courses:read');
    expect((await fetch(`${world.origin}/api/v1/orders`, { headers: bearer(token) })).status).toBe(403);
  });

  it.each(['courses:read', 'openid courses:read'])(
    'asks again when %s was requested and nothing is ticked',
    async (scope) => {
      const { browser, page } = await open(app, { scope });
      const again = await browser.submit(page, { decision: 'approve' }, toApp);
      expect(again.status).toBe(400);
      expect(again.text).toContain('<main id="consent">');
      expect(again.text).toContain('role="alert"');
      expect(again.text).not.toContain('checked>');
    },
  );

  it('says that approving shares the member’s identity, and accepts that alone when nothing else was requested', async () => {
    const { request, browser, page } = await open(app, { scope: 'openid' });
    expect(page.text).toContain('Know who you are <small>Always included</small>');
    expect(offeredScopes(page)).toEqual([]);
    const last = await browser.submit(page, { decision: 'approve' }, toApp);
    expect((await redeem(app, request, new URL(last.location ?? ''))).scope).toBe('openid');
  });

  it('lists what an app may change separately', async () => {
    const { page } = await open(app, { scope: 'openid courses:read courses:write' });
    const [, write = ''] = page.text.split('<fieldset class="write">');
    expect(write).toMatch(/^\s*<legend>What it can change<\/legend>/);
    expect(write).toContain('value="courses:write"');
    expect(write).not.toContain('value="courses:read"');
  });

  describe('ticks', () => {
    const SEVEN = 'profile courses:read students:read members:read orders:read events:read posts:read';
    const WRITES =
      'courses:write students:write members:write curriculum:write school:write appearance:write events:write';
    const newApp = (client_name = 'New App') => registerApp(world.origin, { metadata: { client_name } });

    it('what an app can see, and nothing that it can change', async () => {
      const { page } = await open(await newApp(), { scope: 'openid profile account:read courses:write account:write' });
      expect(offeredScopes(page)).toEqual(['profile', 'account:read', 'courses:write', 'account:write']);
      expect(tickedScopes(page)).toEqual(['profile', 'account:read']);
    });

    it.each(['courses:write', 'openid profile courses:write account:write'])(
      'changes when nothing else is requested: %s',
      async (scope) => {
        const { page } = await open(await newApp(), { scope });
        expect(tickedScopes(page)).toEqual(offeredScopes(page));
      },
    );

    it.each([
      ['more than six changes', 'New App', `openid ${WRITES}`, []],
      ['a change, by a name that poses as the school', 'Harbour Lane School', 'openid profile courses:write', []],
    ])('no changes when an app asks for %s', async (_what, name, scope, left) => {
      const { page } = await open(await newApp(name), { scope });
      expect(tickedScopes(page)).toEqual(left);
    });

    it('the one change that an app is challenged for, beside what it has', async () => {
      const stepping = await newApp();
      const tokens = await connect(stepping, { parameters: { scope: 'openid courses:read' } });
      const refused = await fetch(`${world.origin}/api/v1/courses/1`, {
        method: 'DELETE',
        headers: bearer(tokens.access_token),
      });
      const [, scope = ''] = /scope="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
      expect([refused.status, scope]).toEqual([403, 'openid courses:read courses:write']);
      expect(tickedScopes((await open(stepping, { scope })).page)).toEqual(['courses:write']);
      // More to see at the same time is no step-up.
      expect(tickedScopes((await open(stepping, { scope: `${scope} orders:read` })).page)).toEqual(['orders:read']);
      // Neither is connecting again.
      await connect(stepping, { parameters: { scope } });
      expect(tickedScopes((await open(stepping, { scope })).page)).toEqual(['courses:read']);
    });

    it('the changes of an app on the device again, where any program could be asking', async () => {
      const held = 'openid courses:read courses:write';
      const device = await registerApp(world.origin, { redirectUri: 'http://127.0.0.1/callback' });
      await connect(device, { parameters: { scope: held } });
      const { page } = await open(device, { scope: `${held} orders:read` });
      expect(page.text).toContain('Create and change the school’s courses <small>It has this already</small>');
      expect(tickedScopes(page)).toEqual(['orders:read']);
      // One more change is a step-up there, too.
      const changes = ['courses:write', 'events:write'];
      expect(tickedScopes((await open(device, { scope: `${held} events:write` })).page)).toEqual(changes);
      // Only the app itself receives an answer at its host.
      const hosted = await newApp();
      await connect(hosted, { parameters: { scope: held } });
      const other = await open(hosted, { scope: `${held} orders:read` });
      expect(textOf(other.page.text)).not.toContain('What it can change');
    });

    it('nothing that is folded: from the seventh on, the personal and the strongest are named', async () => {
      const { page } = await open(await newApp(), { scope: SCOPES.join(' ') });
      expect(offeredScopes(page)).toHaveLength(37);
      const named = ['profile', 'email', 'account:read', 'students:read', 'members:read', 'orders:read'];
      expect(tickedScopes(page)).toEqual([...named, 'subscriptions:read', 'forms:read']);
      const text = visibleTextOf(page.text);
      for (const words of ['About you', 'About Harbour Lane School']) expect(text).toContain(words);
      expect(text.match(/Not ticked: [\w ]+ · [^·]+ · [^·]+ · [^·]+ · \d+ more/g)).toHaveLength(2);
      expect(text).toContain('Not ticked: courses · statistics · ');
      expect(text).toContain('Change your account');
      expect(text).not.toContain('Browse the course catalogue');
    });

    it('each of seven things to see, grouped by whom they are about', async () => {
      const { page } = await open(await newApp(), { scope: `openid ${SEVEN} courses:write` });
      expect(tickedScopes(page).toSorted()).toEqual(SEVEN.split(' ').toSorted());
      expect(page.text).not.toContain('<details class="list">');
      expect(tickedScopes(page).slice(0, 2)).toEqual(['profile', 'students:read']);
    });
  });

  describe('approved as it is', () => {
    const titles = parse(readFileSync(new URL('../../config/scopes.yaml', import.meta.url), 'utf8')).scopes;
    const approveUntouched = async (by: App, scope: string) => {
      const { request, browser, page } = await open(by, { scope });
      const last = await browser.submit(page, { decision: 'approve', scope: tickedScopes(page) }, toApp);
      const { scope: granted = '' } = await redeem(by, request, new URL(last.location ?? ''));
      return { granted: granted.split(' '), text: visibleTextOf(page.text) };
    };

    it.each([
      'openid profile',
      SCOPES.slice(0, 9).join(' '),
      SCOPES.filter((scope) => !scope.endsWith(':write')).join(' '),
      SCOPES.join(' '),
      SCOPES.toReversed().join(' '),
      ...[3, 5, 7, 11].map((step) => SCOPES.filter((_, at) => at === 0 || (at * step) % 13 < 7).join(' ')),
    ])('grants nothing that the page does not name: %s', async (scope) => {
      const { granted, text } = await approveUntouched(await registerApp(world.origin), scope);
      expect(granted.length).toBeGreaterThan(1);
      for (const one of granted) expect(text).toContain(titles[one].title.en);
    });

    it('gives a connected app what is new, and what it already has', async () => {
      const stepping = await registerApp(world.origin, { metadata: { client_name: 'StepApp' } });
      await connect(stepping, { parameters: { scope: 'openid profile courses:read courses:write' } });
      const { granted, text } = await approveUntouched(
        stepping,
        'openid profile courses:read courses:write account:write',
      );
      expect(text).toMatch(
        /You connected StepApp on \d+ \w+ 20\d\d\. It now also asks for: .*Change your account.*It already has: Know who you are · View your name · Browse the course catalogue · [A-Z]/s,
      );
      expect(text).not.toContain('First time');
      expect(granted.toSorted()).toEqual(['account:write', 'courses:read', 'courses:write', 'openid', 'profile']);
    });

    it('gives an app that was disconnected meanwhile nothing back that was not ticked', async () => {
      const left = await registerApp(world.origin);
      await connect(left, { parameters: { scope: 'openid profile courses:read courses:write' } });
      const { request, browser, page } = await open(left, {
        scope: 'openid profile courses:read courses:write account:write',
      });
      expect(page.text).toContain('name="held" value="courses:write"');
      const asked = await browser.open(
        `${world.origin}/oauth/apps/disconnect?${new URLSearchParams({ app: left.client.client_id })}`,
      );
      await browser.submit(asked, {});
      const last = await browser.submit(page, { decision: 'approve', scope: tickedScopes(page) }, toApp);
      const { scope } = await redeem(left, request, new URL(last.location ?? ''));
      expect(scope).toBe('openid account:write');
    });

    it('says of an app that asks for the same again that it does, and what that is', async () => {
      const again = await registerApp(world.origin, { metadata: { client_name: 'StepApp' } });
      const scope = 'openid profile courses:read courses:write';
      await connect(again, { parameters: { scope } });
      const { granted, text } = await approveUntouched(again, scope);
      expect(text).toMatch(/You connected StepApp on \d+ \w+ 20\d\d\. It asks for the same again: What it can see/);
      for (const one of granted) expect(text).toContain(titles[one].title.en);
      expect(granted.toSorted()).toEqual(['courses:read', 'openid', 'profile']);
    });

    it('lets a connected app also know who the member is, for which there is no box', async () => {
      const stepping = await registerApp(world.origin);
      await connect(stepping, { parameters: { scope: 'courses:read' } });
      const { granted } = await approveUntouched(stepping, 'openid courses:read');
      expect(granted.toSorted()).toEqual(['courses:read', 'openid']);
    });

    it('is shown again when a connected app asks for more and nothing new is ticked', async () => {
      const stepping = await registerApp(world.origin);
      await connect(stepping, { parameters: { scope: 'openid courses:read' } });
      const { browser, page } = await open(stepping, { scope: 'openid courses:read orders:read' });
      const again = await browser.submit(page, { decision: 'approve' }, toApp);
      expect(again.status).toBe(400);
      expect(again.text).toContain('It already has: ');
    });

    it('asks a name that poses as the school for everything again', async () => {
      const posing = await registerApp(world.origin, { metadata: { client_name: 'Harbour Lane School' } });
      await connect(posing, { parameters: { scope: 'openid courses:read courses:write' } });
      const { page } = await open(posing, { scope: 'openid courses:read courses:write orders:read' });
      expect(page.text).not.toContain('name="held"');
      expect(offeredScopes(page)).toEqual(['courses:read', 'orders:read', 'courses:write']);
    });
  });

  it.each([
    ['en', 'en-GB', 'Until DATE, or until you disconnect it under Connected apps.'],
    ['es', 'es', 'Hasta el DATE, o hasta que la desconectes en Aplicaciones conectadas.'],
    ['de', 'de', 'Bis DATE, oder bis Sie die Verbindung unter Verbundene Apps trennen.'],
    ['fr', 'fr', 'Jusqu’au DATE, ou jusqu’à ce que vous la déconnectiez dans Applications connectées.'],
    ['ar', 'ar-u-ca-gregory-nu-latn', 'حتى DATE، أو حتى تلغي ربطه من التطبيقات المرتبطة.'],
  ])('says above the buttons until when the app has access, in %s', async (language, locale, words) => {
    const { page } = await open(app, { ui_locales: language });
    const [, actions = ''] = page.text.split('<div class="actions">');
    const [text = '', buttons = ''] = actions.split('<button');
    expect(buttons).not.toBe('');
    // 365 days of refreshing, and the 10 minutes of the last access token.
    const last = [-60, 0].map((seconds) => Date.now() + (365 * 86_400 + 600 + seconds) * 1000);
    const date = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
    expect(last.map((at) => words.replace('DATE', date.format(at)))).toContain(textOf(text).trim());
  });

  it('names scopes by their codes only among the details', async () => {
    const { page } = await open(app, { scope: 'openid courses:read courses:write' });
    const [before = '', details = ''] = page.text.split('<summary>Details</summary>');
    expect(before).not.toContain('<code>');
    for (const scope of ['openid', 'courses:read', 'courses:write']) expect(details).toContain(`<code>${scope}</code>`);
  });

  it('offers Cancel first, and Approve as the one primary action', async () => {
    const { page } = await open();
    const buttons = [...page.text.matchAll(/<button [^>]*>/g)].map(([button]) => button);
    expect(buttons).toEqual([
      '<button type="submit" name="decision" value="deny">',
      '<button type="submit" name="decision" value="approve" class="go">',
    ]);
  });

  it('links to the app’s policy and terms without a referrer', async () => {
    const metadata = {
      policy_uri: 'https://xn--bcher-kva.example/privacy?a=1&b=2',
      tos_uri: 'https://app.example/terms',
    };
    const { page } = await open(await registerApp(world.origin, { metadata }));
    expect(page.text).toContain(
      '<a href="https://xn--bcher-kva.example/privacy?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">The app’s privacy policy, at <bdi>xn--bcher-kva.example</bdi></a>',
    );
    expect(page.text).toContain('The app’s terms, at <bdi>app.example</bdi>');
    expect((await open()).page.text).not.toContain('privacy policy');
  });

  it.each(['Harbour Lane School', 'Hаrbоur Lаnе Schооl', 'Admin', 'Support'])(
    'never shows the name %s without saying that the app calls itself that',
    async (name) => {
      const { page } = await open(await registerApp(world.origin, { metadata: { client_name: name } }));
      expect(page.text).toContain(`An app that calls itself “<bdi>${name}</bdi>” asks for access`);
      expect(page.text).toContain('is not part of <bdi>Harbour Lane School</bdi>');
      expect(page.text).toContain('Not verified');
      // One strong warning, which makes Cancel the primary button.
      expect(page.text.match(/class="notice[^"]*"/g)).toEqual(['class="notice problem"']);
      expect(page.text).toContain('value="deny" class="go">');
      expect(page.text).not.toContain('value="approve" class="go">');
      expect(page.text).toContain(`<title>An app that calls itself “${name}”`);
    },
  );

  describe('the name of a known assistant', () => {
    const named = (client_name: string, redirectUri: string) =>
      registerApp(world.origin, { redirectUri, metadata: { client_name } });
    const notices = ({ text }: Page) => text.match(/class="notice[^"]*"/g) ?? [];

    it('is not believed of an app that sends codes to another host, and nothing is granted by approving as it is', async () => {
      const evil = await named('CIaude', 'https://claude-login.evil.example/callback');
      const { browser, page } = await open(evil, { scope: 'openid profile email courses:read courses:write' });
      expect(page.text).toContain('An app that calls itself “<bdi>CIaude</bdi>” asks for access');
      expect(page.text).toContain(
        'this app could not prove that it belongs to <bdi>Anthropic</bdi> (<bdi>claude.ai</bdi>).',
      );
      expect(notices(page)).toEqual(['class="notice problem"']);
      expect(page.text).toContain('value="deny" class="go">');
      expect(offeredScopes(page)).toEqual(['profile', 'email', 'courses:read', 'courses:write']);
      expect(page.text).not.toContain(' checked>');
      const again = await browser.submit(page, { decision: 'approve' }, toApp);
      expect([again.status, again.text.includes('role="alert"')]).toEqual([400, true]);
      expect(again.text).not.toContain(' checked>');
      expect(again.text).toContain('value="deny" class="go">');
    });

    it.each([
      ['Claude', 'https://claude.ai/api/mcp/auth_callback', 'Not verified. Approve only if you started this.'],
      ['ChatGPT', 'https://chatgpt.com/connector_platform_oauth_redirect', 'Not verified. Approve only if you'],
      ['Claude Code (school)', 'http://127.0.0.1:33418/callback', 'any app on this device can use this name'],
      ['Cursor', 'cursor://anysphere.cursor-mcp/oauth/callback', 'any app on this device can use this name'],
      ['Gemini Constellation', 'https://stars.example/callback', 'Not verified. Approve only if you started this.'],
    ])('is no reason for a warning of %s at %s', async (name, redirectUri, line) => {
      const { page } = await open(await named(name, redirectUri), { scope: 'openid profile' });
      expect(page.text).toContain(`<bdi>${name}</bdi> asks for access to your account`);
      expect(page.text).toContain(line);
      expect(notices(page)).toEqual([]);
      expect(page.text).toContain('value="profile" checked>');
      expect(page.text).toContain('value="approve" class="go">');
    });
  });

  describe('in a language', () => {
    const withHeader = (url: string, acceptLanguage: string, cookies = createBrowser()) =>
      fetch(url, {
        headers: {
          'accept-language': acceptLanguage,
          cookie: [...cookies.cookies].map(([name, { value }]) => `${name}=${value}`).join('; '),
        },
      });

    it('uses the language that the app requested, up to the last page', async () => {
      const { browser, page } = await open(app, { ui_locales: 'pt-BR es-MX en' });
      expect(page.text).toContain('<html lang="es" dir="ltr">');
      expect(page.headers.get('content-language')).toBe('es');
      expect(page.headers.get('vary')).toBeNull();
      for (const words of [
        'Test App</bdi> solicita acceso',
        'Consultar el catálogo de cursos',
        '¿No eres tú?',
        '>Aprobar<',
      ]) {
        expect(page.text).toContain(words);
      }
      const again = await browser.submit(page, { decision: 'approve' }, toApp);
      expect(again.text).toContain('Marca al menos una cosa');
      const large = await post(browser, page.url, { pad: 'x'.repeat(17 * 1024) });
      expect(await large.text()).toContain('La solicitud es demasiado grande');
    });

    it('otherwise uses the browser’s language, and sends Vary', async () => {
      const { browser, page } = await open();
      const spanish = await withHeader(page.url, 'es-AR,es;q=0.9,en;q=0.5', browser);
      expect(spanish.headers.get('vary')).toBe('Accept-Language');
      expect(await spanish.text()).toContain('<html lang="es" dir="ltr">');
      const german = await withHeader(page.url, 'de', browser);
      expect(await german.text()).toContain('<html lang="de" dir="ltr">');
      const arabic = await withHeader(page.url, 'ar', browser);
      expect(await arabic.text()).toContain('<html lang="ar" dir="rtl">');
      const japanese = await withHeader(page.url, 'ja', browser);
      expect(japanese.headers.get('vary')).toBe('Accept-Language');
      expect(await japanese.text()).toContain('<html lang="en" dir="ltr">');
    });

    it('applies the language to error pages too', async () => {
      const { url } = await authorizationRequest(app, { client_id: 'nobody-knows-me' });
      expect(await (await withHeader(url, 'es')).text()).toContain('No se puede conectar esta aplicación');
      expect(await (await withHeader(`${url}&ui_locales=en`, 'es')).text()).toContain('This app cannot be connected');
      expect(await (await withHeader(`${url}&ui_locales=en&ui_locales=es`, 'es')).text()).toContain('<html lang="es"');
      const over = await withHeader(`${world.origin}/oauth/interaction/long-gone`, 'es');
      expect(await over.text()).toContain('ha caducado');
    });

    it.each(['"><script>alert(1)</script>', '__proto__', 'es"onload="alert(1)', 'x'.repeat(512)])(
      'ignores a forged ui_locales of %s',
      async (ui_locales) => {
        const { page } = await open(app, { ui_locales });
        expect(page.status).toBe(200);
        expect(page.text).toContain('<html lang="en" dir="ltr">');
        expect(page.text).not.toMatch(/<script|onload|__proto__|xxx/);
      },
    );
  });

  it.each<[string, (csrf: string) => Record<string, string>]>([
    ['no CSRF token', () => ({ decision: 'approve', scope: 'courses:read' })],
    ['a wrong one', (csrf) => ({ decision: 'approve', scope: 'courses:read', csrf: `${csrf.slice(0, -1)}!` })],
    ['a short one', () => ({ decision: 'approve', scope: 'courses:read', csrf: 'x' })],
    ['no CSRF token, denying', () => ({ decision: 'deny' })],
    ['no decision', (csrf) => ({ scope: 'courses:read', csrf })],
    ['another decision', (csrf) => ({ decision: 'yes', scope: 'courses:read', csrf })],
  ])('is shown again, with nothing decided, when it is posted with %s', async (_name, fields) => {
    const { browser, page } = await open();
    const answer = await post(browser, page.url, fields(csrfOf(page)));
    expect(answer.status).toBe(303);
    expect(new URL(answer.headers.get('location') ?? '', page.url).href).toBe(page.url);
    expect((await browser.open(page.url)).text).toContain('<main id="consent">');
  });

  it('refuses the CSRF token of another interaction', async () => {
    const one = await open();
    const two = await open();
    const fields = { decision: 'approve', scope: 'courses:read', csrf: csrfOf(one.page) };
    const answer = await post(two.browser, two.page.url, fields);
    expect(new URL(answer.headers.get('location') ?? '', two.page.url).href).toBe(two.page.url);
  });

  it.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.test' },
    { origin: 'null' },
  ] as Record<string, string>[])('refuses a form posted with %o', async (headers) => {
    const { browser, page } = await open();
    const fields = { decision: 'approve', scope: 'courses:read', csrf: csrfOf(page) };
    const answer = await post(browser, page.url, fields, headers);
    expectErrorPage({ status: answer.status, text: await answer.text() }, 403);
  });

  it('works only in the browser that started the request', async () => {
    const { page } = await open();
    const stranger = createBrowser();
    await signIn(stranger, world.origin, OLU);
    expectErrorPage(await stranger.open(page.url), 400);
    expectErrorPage(await stranger.open(`${page.url}/return`), 400);
    const fields = { decision: 'approve', scope: 'courses:read', csrf: csrfOf(page) };
    const answer = await post(stranger, page.url, fields);
    expectErrorPage({ status: answer.status, text: await answer.text() }, 400);
  });

  it('cannot be used again once it has been answered', async () => {
    const { browser, page } = await open();
    await browser.submit(page, { decision: 'approve', scope: 'courses:read' }, toApp);
    expectErrorPage(await browser.submit(page, { decision: 'approve', scope: 'courses:read' }, toApp), 400);
    expectErrorPage(await browser.open(page.url), 400);
    const resumed = await browser.open(page.url.replace('/interaction/', '/authorize/'), toApp);
    expectErrorPage(resumed, 400);
  });

  it('refuses a form that is too large', async () => {
    const { browser, page } = await open();
    const answer = await post(browser, page.url, { pad: 'x'.repeat(17 * 1024) });
    expectErrorPage({ status: answer.status, text: await answer.text() }, 413);
  });

  it('asks again when another member signs in meanwhile, and then grants for that member', async () => {
    const { request, browser, page } = await open();
    expect(page.text).toContain(SAM.login);
    await signIn(browser, world.origin, OLU);

    const asked = await browser.submit(page, { decision: 'approve', scope: 'courses:read' }, toApp);
    expect(asked.location).toBeUndefined();
    expect(asked.text).toContain('<main id="consent">');
    expect(asked.text).toContain(OLU.login);
    expect(asked.text).not.toContain(SAM.login);

    const last = await browser.submit(asked, { decision: 'approve', scope: 'courses:read' }, toApp);
    const { access_token: token } = await redeem(app, request, new URL(last.location ?? ''));
    const who = await fetch(`${world.origin}/api/oauth/userinfo`, { headers: bearer(token) });
    expect(await who.json()).toEqual({ sub: 'm-1002' });
  });
});

describe('the consent page of an app with a client metadata document', () => {
  let host: DocumentHost;
  let world: World;
  let dcr: App;
  beforeAll(async () => {
    host = await startDocumentHost();
    world = await startWorld({ profile: 'A', documentNetwork: host.network });
    dcr = await registerApp(world.origin);
  });
  afterAll(async () => {
    await world.close();
    await host.close();
  });

  const open = async (redirectUri: string, scope = 'openid courses:read') => {
    const url = `https://claude.ai/oauth/${encodeURIComponent(redirectUri)}`;
    host.serve(url, answerJson(plainDocument(url, { client_name: 'Claude', redirect_uris: [redirectUri] })));
    const request = await authorizationRequest({ ...dcr, client: { client_id: url }, redirectUri }, { scope });
    return (await reachConsent(request.url)).page.text;
  };

  it('names the verified domain, and says that the school has not reviewed the app', async () => {
    const text = await open('https://claude.ai/callback');
    expect(text).toContain('Verified domain: <strong><bdi>claude.ai</bdi></strong>');
    expect(text).toContain('has not reviewed this app');
    expect(text).not.toContain('Not verified');
    expect(text.match(/class="notice[^"]*"/g)).toEqual(['class="notice proof"']);
    expect(text).toContain('value="approve" class="go">');
  });

  it('warns when the app leads to another domain than the verified one', async () => {
    const text = await open('https://claude.ai.evil.example/callback', 'openid courses:write');
    expect(text).toContain(
      'This app’s verified domain is <strong><bdi>claude.ai</bdi></strong>, but you will be sent to <strong><bdi>claude.ai.evil.example</bdi></strong>. Cancel unless you trust both.',
    );
    expect(text.match(/class="notice[^"]*"/g)).toEqual(['class="notice problem"']);
    expect(text).toContain('value="deny" class="go">');
    expect(text).not.toContain('checked');
  });

  it.each([
    ['http://127.0.0.1/callback', 'an app on this device</strong>'],
    ['ai.claude.app:/callback', 'an app installed on this device (<bdi>ai.claude.app</bdi>)</strong>'],
  ])('shows the domain as not verified when the app leads to %s', async (redirectUri, place) => {
    const text = await open(redirectUri);
    expect(text).toContain('Not verified: it says it belongs to <strong><bdi>claude.ai</bdi></strong>');
    expect(text).toContain('as any app on this device can');
    expect(text).toContain(place);
    expect(text).not.toContain('Verified domain');
  });
});

describe('the look of the pages', () => {
  const open = async (origin: string, path: string) => fetch(origin + path, { redirect: 'manual' });
  const assetIn = (text: string, name: string) =>
    new RegExp(`(?:src|href)="(/oauth/assets/${name}\\?v=[\\w-]{8})"`).exec(text)?.[1] ?? '';

  it('uses the school’s colour and its logo, in which scripts cannot run', async () => {
    const world = await startWorld({ profile: 'A' });
    try {
      const page = await open(world.origin, '/oauth/interaction/x');
      expect(page.headers.get('content-security-policy')).toContain("img-src 'self'");
      expect(page.headers.get('strict-transport-security')).toBeNull();
      const text = await page.text();
      const logo = await open(world.origin, assetIn(text, 'logo'));
      expect(logo.status).toBe(200);
      expect(logo.headers.get('content-type')).toBe('image/svg+xml');
      expect(logo.headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      );
      expect(logo.headers.get('x-content-type-options')).toBe('nosniff');
      expect(await logo.text()).toContain('<svg');
      const sheet = await open(world.origin, assetIn(text, 'pages.css'));
      expect(sheet.headers.get('content-type')).toBe('text/css; charset=utf-8');
      expect(await sheet.text()).toContain('--accent: #14506b');
      expect(text).not.toContain('Get help from');
    } finally {
      await world.close();
    }
  });

  it('links to support, privacy policy and terms, and sends HSTS when the origin is https', async () => {
    const world = await startWorld({
      profile: 'A',
      overrides: {
        origin: 'https://school.example',
        pages: {
          ...{ support: 'https://school.example/help?a&b', languages: ['es'] },
          ...{ policyUri: 'https://school.example/privacy?a&b', tosUri: 'https://school.example/terms' },
        },
      },
    });
    try {
      const port = new URL(world.origin).port;
      const page = await fetch(`http://127.0.0.1:${port}/oauth/interaction/x`, { redirect: 'manual' });
      expect(page.headers.get('strict-transport-security')).toBe('max-age=31536000');
      expect(page.headers.get('vary')).toBeNull();
      const text = await page.text();
      expect(text).toContain('<a href="https://school.example/help?a&amp;b" rel="noopener noreferrer">Pide ayuda a');
      expect(text).toContain('href="https://school.example/privacy?a&amp;b" rel="noopener noreferrer">Política');
      expect(text).toContain('href="https://school.example/terms" rel="noopener noreferrer">Condiciones de');
    } finally {
      await world.close();
    }
  });
});
