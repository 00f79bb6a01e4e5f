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

/** The table of numbers: the cells of each row by column, newest first. */
const numbers = (page: string): readonly Readonly<Record<string, string>>[] => {
  const table = /aria-label="Numbers"><table.*?<\/table>/s.exec(page)?.[0] ?? '';
  const cells = (row: string) => [...row.matchAll(/<t[hd][^>]*>(?:<a[^>]*>)?([^<]*)</g)].map(([, text]) => text ?? '');
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
    const [second, first, before] = numbers(page);
    const total = Object.values(counted.requests).reduce((sum, count) => sum + count, 0);
    expect(first).toMatchObject({ Time: '17:28', Requests: String(total), Refused: '0' });
    expect(second).toMatchObject({ Time: '17:29', Requests: '4', Refused: '4' });
    expect(before).toMatchObject({ Time: '17:27', Requests: '–' });
    expect(second?.p50).toMatch(/^[\d.]+ ms$/);
    const { text } = await session.get('/console/history?at=2026-11-23T17:28');
    expect(text).toContain(`admitted ${counted.requests.admitted}`);
    expect(text).toContain(`public ${counted.requests.public}`);
    expect(text).toContain(
      `Tokens issued: authorization code ${counted.tokens.authorization_code}, refresh token ${counted.tokens.refresh_token}.`,
    );
    expect((await session.get('/console/history?at=2026-11-23T17:29')).text).toContain('4 requests without a token');
    expect(page).toContain('Nothing failed in the last hour.');
  });

  it('leads from each slot of a chart and each row of the numbers to that time in the history', async () => {
    const page = await traffic(session);
    expect(page).toContain(
      '<a href="/console/history?at=2026-11-23T17%3A29#asked" tabindex="-1"><title>17:29: No token 4</title>',
    );
    expect(page).toMatch(/<title>17:28: Admitted 3, Public \d+, .*Refused 0.*<\/title>/);
    expect(page).not.toMatch(/<title>17:2[78]: No token/);
    expect(page).toContain('<th scope="row"><a href="/console/history?at=2026-11-23T17%3A29#asked">17:29</a></th>');
    now += 2 * MINUTE;
    // The ten minutes from 17:20, with the five minutes before and after the one in the middle.
    expect(await traffic(session, '?span=day')).toContain(
      '<a href="/console/history?at=2026-11-23T17%3A25#asked" tabindex="-1"><title>23 Nov, 17:20: ',
    );
    now -= 2 * MINUTE;
  });

  it('keeps the day over a restart, and shows the time between as not measured', async () => {
    await world.restart();
    session = await openConsole(world);
    now += 12 * MINUTE;
    const page = await traffic(session);
    const rows = numbers(page);
    expect(rows.find(({ Time }) => Time === '17:29')?.Refused).toBe('4');
    expect(rows.find(({ Time }) => Time === '17:35')?.Requests).toBe('–');
    expect(page).toContain('Not measured');
    const day = numbers(await traffic(session, '?span=day'));
    expect(day.find(({ Time }) => Time === '23 Nov, 17:20')?.Refused).toBe('4');
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
    await page.getByRole('region', { name: 'Numbers' }).waitFor();
    await look(page, 'traffic');
    await page.locator('.plot .slots a').last().click();
    await page.waitForURL('**/history?at=*');
    await look(page, 'history');
    expect(findings).toEqual([]);
    expect(count.pages).toBe(2);
    await browser.close();
  });
});
