import {
  chmodSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type LoadedConfig, loadConfig } from '../../../src/config/load.ts';
import { checkText } from '../../../src/generation/check-text.ts';
import { createLog } from '../../../src/operations/log.ts';
import { replaceFile, whyNotWritable } from '../../../src/operator/console/operate/config-file.ts';
import { createProposals } from '../../../src/operator/console/operate/proposal.ts';
import { type Gateway, startGateway } from '../../../src/process/gateway.ts';
import { followConfig } from '../../../src/process/watch/follow.ts';
import { closeLook } from '../../support/album.ts';
import { browserPresent, launchChromium } from '../../support/chromium.ts';
import { COMMAND_SECRET } from '../../support/commands.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../../support/recording-upstream.ts';
import { freePort } from '../../support/world.ts';
import { browseConsole, type ConsoleSession, openConsole } from './support/console.ts';

const folder = mkdtempSync(join(tmpdir(), 'coursegate-accept-'));
const real = join(folder, 'gate.yaml');
/** What the gate is started with: a link. */
const file = join(folder, 'coursegate.yaml');
const logFile = join(folder, 'log');
const environment = { COMMAND_SECRET };

let site: RecordingUpstream;
let loaded: LoadedConfig;
let gateway: Gateway;
let following: ReturnType<typeof followConfig>;
let origin: string;
let session: ConsoleSession;
/** The page before any request was counted. */
let empty: string;
let admin: { admin: string };

const configOf = (port: number, url: string) => `# The gate of the school.
version: 1
profile: B
anonymous: refuse
origin: http://localhost:${port}
listen: { port: ${port}, admin: { port: 0 } }
store: { kind: memory }
login: { kind: session, upstream: back, whoami: { path: /me }, loginUrl: /login, cookies: [school] }
upstreams: { back: { url: "${url}" } }
site: { upstream: back }
admin: { hmac: { secret: { env: COMMAND_SECRET } } }

# Only to try things out.
enforcement: { mode: observe }

routes:
  # Nobody needs this.
  - { match: "GET /unused/**", upstream: back, scopes: [courses:read] }
  # Courses, as agreed with the school.
  - { match: "GET /api/courses/**", upstream: back, scopes: [courses:read] }
  # The catalogue.
  - match: GET /catalogue/** # for everybody
    upstream: back
    anonymous: serve

# The end.
log: { level: info }
`;

beforeAll(async () => {
  site = await startRecordingUpstream();
  const port = await freePort();
  origin = `http://localhost:${port}`;
  writeFileSync(real, configOf(port, site.url), { mode: 0o640 });
  chmodSync(real, 0o640);
  symlinkSync('gate.yaml', file);
  loaded = await loadConfig({ file, environment });
  const log = createLog('info', openSync(logFile, 'a'));
  gateway = await startGateway({ loaded, log, clock: Date.now });
  following = followConfig({ file, environment, loaded, reload: gateway.reload, log, quiet: 20 });
  admin = { admin: `http://127.0.0.1:${gateway.adminPort}` };
  session = await openConsole(admin);
  empty = await show('/console/observe');
  for (const path of ['/api/courses/1', '/api/courses/2', '/api/orders/17', '/api/orders/18'])
    await (await fetch(origin + path, { headers: { cookie: 'school=m-1' } })).arrayBuffer();
  await (await fetch(`${origin}/catalogue/7`)).arrayBuffer();
});
afterAll(async () => {
  following.close();
  await gateway.close(0);
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

const text = () => readFileSync(real, 'utf8');
const show = async (path: string) => (await session.get(path)).text;
const draftIn = (page: string) => /name="draft" value="([^"]+)"/.exec(page)?.[1] ?? '';
const logged = (action: string) => readFileSync(logFile, 'utf8').includes(`"event.action":"${action}"`);
const reloads = () => readFileSync(logFile, 'utf8').match(/"event.action":"config_reloaded"/g)?.length ?? 0;

/** Proposals whose result is another one than what was written, as if something overrode the file. */
const proposed = (result: (given: string) => string) => {
  const check = (given: string) => checkText(loaded, result(given));
  const route = { match: 'GET /new', upstream: 'back', scopes: ['courses:read'], anonymous: 'refuse' } as const;
  const report = () => ({
    ...{ since: new Date(0), quietSince: undefined, dropped: 0, observed: [], notes: [] },
    routes: [{ route: { ...route, scopes: [...route.scopes] }, evidence: '1 request' }],
  });
  return createProposals({ loaded, check }, { report });
};

describe('the page of observe mode', () => {
  it('proposes nothing before anything was counted', () => {
    expect(empty).toContain('None yet.');
    expect(empty).toMatch(/Requests<\/dt><dd>0</);
    expect(empty).not.toMatch(/href="[^"]*\/accept"|<table/);
  });

  it('shows what was counted, and the proposal as YAML', async () => {
    const page = await show('/console/observe');
    expect(page).not.toContain('None yet.');
    expect(page).toContain('Accept 3 routes</a>');
    expect(await show('/console')).toContain('Routes are observed, not enforced: the gate refuses nothing yet.');
    expect(page).toMatch(/Requests<\/dt><dd>5</);
    expect(page).toMatch(/Would be refused<\/dt><dd>2</);
    expect(page).toMatch(/GET \/api\/orders\/\*<\/code>.*?<td class="number"[^>]*>2<\/td>/s);
    expect(page).toContain('routes:\n  - {');
    expect(page).toContain('GET /unused/**: a route that nothing was got by; left out');
  });

  it('refuses to write a file that is read-only', async () => {
    chmodSync(real, 0o440);
    const page = await show('/console/observe/accept');
    expect(page).toContain('cannot be written: its permissions make it read-only.');
    expect(draftIn(page)).toBe('');
    chmodSync(real, 0o640);
  });

  it('refuses a file that has changed since the page was shown', async () => {
    const before = text();
    const draft = draftIn(await show('/console/observe/accept'));
    expect(draft).not.toBe('');
    following.close();
    writeFileSync(real, `${before}# changed\n`);
    const answer = await session.post('/console/observe/accept', { draft });
    expect(answer.text).toContain('has been changed since this page was shown');
    expect(text()).toBe(`${before}# changed\n`);
    // What is on disk is not what the gate runs with.
    expect(await show('/console/observe/accept')).toContain('has changes that are not in force');
    writeFileSync(real, before);
  });

  it('refuses a draft that it has not shown', async () => {
    const before = text();
    for (const draft of ['', 'x', '__proto__']) {
      const answer = await session.post('/console/observe/accept', { draft });
      expect([answer.status, answer.text.includes('This page is out of date')]).toEqual([200, true]);
    }
    expect([text(), logged('routes_accepted')]).toEqual([before, false]);
  });

  it('refuses a result that is not valid, with each mistake and its place', async () => {
    const before = text();
    const drafted = await proposed((given) => `${given}nonsense: 1\n`).draft(false);
    expect(drafted).toEqual({
      refused: 'The result would not be a valid configuration.',
      problems: [expect.stringContaining('coursegate.yaml')],
    });
    expect(JSON.stringify(drafted)).toContain('nonsense');
    const enforcing = await proposed((given) => given.replace(/^listen: .*$/m, 'listen: { port: 1 }')).draft(true);
    expect(JSON.stringify(enforcing)).toContain('cannot be changed while the gate is running');
    expect(text()).toBe(before);
  });

  it('refuses what another source than the file decides', async () => {
    const before = text();
    expect(await proposed(() => before).draft(false)).toEqual({
      refused: 'The routes are not decided by this file: an environment variable or a profile overrides it.',
    });
    const observing = (given: string) => `${given}enforcement: { mode: observe }\n`;
    expect(await proposed(observing).draft(true)).toEqual({
      refused: 'Observe mode is not decided by this file: an environment variable overrides it.',
    });
  });
});

it('replaces no file that has changed while the new one was written, and leaves nothing behind', async () => {
  const before = text();
  expect(await replaceFile(file, 'new', `${before}x`)).toBe('it has been changed meanwhile');
  expect([text(), readdirSync(folder).toSorted()]).toEqual([before, ['coursegate.yaml', 'gate.yaml', 'log']]);
  const gone = join(folder, 'gone');
  expect(await replaceFile(gone, 'new', '')).toBe('the system says ENOENT');
  expect(await whyNotWritable(gone)).toBe('the system says ENOENT');
  expect(await whyNotWritable(file)).toBeUndefined();
});

describe('accepting the proposal', () => {
  it('shows the difference without the lines around it', async () => {
    const page = await show('/console/observe/accept');
    expect(page).toMatch(/<del>.*GET \/unused/);
    expect(page).toMatch(/<ins>.*GET \/api\/site\/api\/orders\/\*/);
    expect(page).toContain('lines unchanged');
    expect(page).not.toContain('COMMAND_SECRET');
    expect(text()).toContain('/unused/**');
  });

  it('writes the routes with their comments, and the gate loads them', async () => {
    const current = await loadConfig({ file, environment });
    const log = createLog('info', openSync(logFile, 'a'));
    following = followConfig({ file, environment, loaded: current, reload: gateway.reload, log, quiet: 20 });
    await following.now();
    session = await openConsole(admin);
    const before = reloads();
    const page = await show('/console/observe/accept');
    const answer = await session.post('/console/observe/accept', { draft: draftIn(page), reason: 'tried' });
    expect([answer.status, answer.location]).toEqual([303, '/console/observe']);
    expect(text()).not.toContain('unused');
    expect(text()).toContain('enforcement: { mode: observe }');
    expect(text()).toMatch(
      /# Courses, as agreed with the school\.\n {2}- \{ match: "GET \/api\/site\/api\/courses\/\*\*", .*# 2 requests/,
    );
    expect(text()).toContain('  # The catalogue.\n  - match: GET /catalogue/** # for everybody\n    upstream: back\n');
    expect(text()).toMatch(/# The end\.\nlog: \{ level: info \}\n$/);
    expect(statSync(real).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder).toSorted()).toEqual(['coursegate.yaml', 'gate.yaml', 'log']);
    await vi.waitUntil(() => reloads() > before, { timeout: 30_000 });
    expect(readFileSync(logFile, 'utf8')).toMatch(/"event.action":"routes_accepted".*"coursegate.by":"operator"/);
    const again = await session.post('/console/observe/accept', { draft: draftIn(page) });
    expect(again.text).toContain('This page is out of date');
    // Nothing has changed since.
    await vi.waitUntil(async () => (await show('/console/observe/accept')).includes('has these routes already'), {
      timeout: 30_000,
    });
  });
});

describe.runIf(browserPresent())('in Chromium', () => {
  it('the pages satisfy axe on every screen, and an operator accepts and enforces with the keyboard', async () => {
    const browser = await launchChromium();
    const page = await browseConsole(browser, admin);
    const { look, findings } = closeLook('console-operate');
    await page.goto('/console/keys');
    await look(page, 'keys');
    await page.goto('/console/observe');
    await look(page, 'observe');
    await page.goto('/console/observe/accept?enforce=yes');
    await look(page, 'accept');
    expect(findings).toEqual([]);
    await page.getByRole('button', { name: /and enforce them/ }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/console/observe');
    expect(text()).not.toContain('enforcement');
    expect(text()).not.toContain('# Only to try things out.');
    await vi.waitUntil(async () => (await fetch(`${origin}/api/site/api/orders/17`)).status === 401, {
      timeout: 30_000,
    });
    await browser.close();
  });
});
