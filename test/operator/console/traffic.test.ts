import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeLook } from '../../support/album.ts';
import { bearer, registerApp } from '../../support/app.ts';
import { browserPresent, launchChromium } from '../../support/chromium.ts';
import { approved, connect, refreshForm, token } from '../../support/connection.ts';
import type { World } from '../../support/world.ts';
import { browseConsole, type ConsoleSession, openConsole, startConsoleWorld } from './support/console.ts';

const MINUTE = 60_000;
// 17:28 in Kolkata.
let now = Date.UTC(2026, 10, 23, 11, 58);

let world: World;
beforeAll(async () => {
  world = await startConsoleWorld({ clock: () => now, overrides: { timeZone: 'Asia/Kolkata' } });
});
afterAll(() => world.close());

/** The table of numbers below a heading: the cells of each row by column, newest first. */
const numbers = (page: string, title: string): readonly Readonly<Record<string, string>>[] => {
  const table = new RegExp(`aria-label="Numbers of ${title}"><table.*?</table>`, 's').exec(page)?.[0] ?? '';
  const cells = (row: string) => [...row.matchAll(/<t[hd][^>]*>([^<]*)</g)].map(([, text]) => text ?? '');
  const [head = [], ...rows] = [...table.matchAll(/<tr>.*?<\/tr>/gs)].map(([row]) => cells(row));
  return rows.map((row) => Object.fromEntries(row.map((text, at) => [head[at], text])));
};

const traffic = async (session: ConsoleSession, query = '') => {
  const page = await session.get(`/console/traffic${query}`);
  expect(page.status).toBe(200);
  return page.text;
};

/** What /metrics says of a counter, by the values of one label. */
const scraped = async (metric: string, label: string) => {
  const text = await (await fetch(`${world.admin}/metrics`)).text();
  const sums: Record<string, number> = {};
  for (const [, labels = '', value] of text.matchAll(new RegExp(`^${metric}\\{(.*)\\} (\\d+)$`, 'gm'))) {
    const name = new RegExp(`${label}="([^"]*)"`).exec(labels)?.[1] ?? '';
    if (value !== '0') sums[name] = (sums[name] ?? 0) + Number(value);
  }
  return sums;
};

describe('the page of traffic', () => {
  let session: ConsoleSession;
  beforeAll(async () => {
    session = await openConsole(world);
  });

  it('says in the first minute that nothing has been measured', async () => {
    expect(await traffic(session)).toContain('Nothing has been measured yet.');
    expect(await traffic(session, '?span=day')).toContain('Nothing has been measured yet.');
    const first = (await session.get('/console')).text;
    expect(first).toContain('Nothing has been measured yet.');
    expect(first).not.toContain('<svg class="chart"');
  });

  it('shows what the metrics have counted, minute by minute', async () => {
    const app = await registerApp(world.origin);
    const { form } = await approved(app);
    const { body } = await token(app, form);
    await token(app, refreshForm(app, body.refresh_token));
    const headers = bearer((await connect(app)).access_token);
    for (let at = 0; at < 3; at += 1) await fetch(`${world.origin}/api/v1/courses`, { headers });
    const counted = {
      requests: await scraped('coursegate_http_request_duration_seconds_count', 'verdict'),
      refusals: await scraped('coursegate_refusals_total', 'reason'),
      tokens: await scraped('coursegate_tokens_issued_total', 'grant'),
    };
    expect(counted.requests.admitted).toBe(3);
    now += MINUTE;
    await traffic(session);
    for (let at = 0; at < 4; at += 1) await fetch(`${world.origin}/api/v1/courses`);
    now += MINUTE;

    const page = await traffic(session);
    const [second, first, before] = numbers(page, 'Requests');
    expect(first).toMatchObject({
      Time: '17:28',
      Admitted: String(counted.requests.admitted),
      Public: String(counted.requests.public),
    });
    expect(second).toMatchObject({ Time: '17:29', Admitted: '0', Refused: '4' });
    expect(before).toMatchObject({ Time: '17:27', Admitted: '–' });
    expect(numbers(page, 'Refusals')[0]).toMatchObject({ 'No token': '4' });
    expect(numbers(page, 'Access tokens issued')[1]).toMatchObject({
      'New connection': String(counted.tokens.authorization_code),
      Refresh: String(counted.tokens.refresh_token),
    });
    expect(numbers(page, 'Response time')[0]?.p50).toMatch(/^[\d.]+ ms$/);
    expect(page).toContain('Nothing failed in the last hour.');
  });

  it('keeps the day over a restart, and shows the time between as not measured', async () => {
    await world.restart();
    session = await openConsole(world);
    now += 12 * MINUTE;
    const page = await traffic(session);
    const rows = numbers(page, 'Requests');
    expect(rows.find(({ Time }) => Time === '17:28')?.Admitted).toBe('3');
    expect(rows.find(({ Time }) => Time === '17:35')?.Admitted).toBe('–');
    expect(page).toContain('Not measured');
    const day = numbers(await traffic(session, '?span=day'), 'Requests');
    expect(day.find(({ Time }) => Time === '23 Nov, 17:20')?.Admitted).toBe('3');
    expect(day.length).toBe(144);
  });

  it('is drawn without scripts and inline styles, with a title and a description for each chart', async () => {
    const page = await traffic(session);
    expect(page).not.toMatch(/<script|style=|<style|https?:\/\//);
    const charts = page.match(/<svg class="(chart|columns)".*?<\/desc>/gs) ?? [];
    expect(charts.length).toBeGreaterThan(4);
    for (const chart of charts) expect(chart).toMatch(/role="img".*<title.*>.+<\/title><desc.*>.+<\/desc>/s);
  });
});

describe.runIf(browserPresent())('in Chromium', () => {
  it('the charts satisfy axe on every screen, and the period and the numbers are reached by keyboard', async () => {
    const browser = await launchChromium();
    const page = await browseConsole(browser, world);
    const { look, findings, count } = closeLook('console-traffic');
    await page.getByRole('link', { name: 'All charts' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/traffic');
    await page.getByRole('link', { name: 'Last 24 hours' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/traffic?span=day');
    await page.getByRole('link', { name: 'Last hour' }).click();
    const summary = page.locator('summary').first();
    await summary.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Numbers of Requests' }).waitFor();
    await look(page, 'traffic');
    expect(findings).toEqual([]);
    expect(count.pages).toBe(1);
    await browser.close();
  });
});
