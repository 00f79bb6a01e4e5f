import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { jsonEntry, type Store } from '../../../src/storage/store.ts';
import { bearer, postForm, registerApp } from '../../support/app.ts';
import { browserPresent, launchChromium } from '../../support/chromium.ts';
import { approved, connect } from '../../support/connection.ts';
import type { World } from '../../support/world.ts';
import { browseConsole, startConsoleWorld } from './support/console.ts';
import { withStore } from './support/seed.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const MOST_CLICKS = 3;
const MOST_SECONDS = 20;
/**
 * How long a person takes, in seconds, by the keystroke-level model (Card, Moran and Newell, 1980): to think, to point
 * and press, to take the hand to the keyboard and back, to type a character, to move a phone's screen up by half.
 */
const PERSON = { thought: 1.35, click: 1.3, homing: 0.8, key: 0.28, swipe: 1.3 };

let now: number;

/** The texts that can be seen without scrolling. */
const IN_SIGHT = `(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const texts = [];
  while (walker.nextNode()) {
    range.selectNodeContents(walker.currentNode);
    const { top, bottom, left, right, width } = range.getBoundingClientRect();
    const shown = walker.currentNode.parentElement.checkVisibility({ visibilityProperty: true });
    if (shown && width > 0 && top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth) texts.push(range.toString());
  }
  return texts.join(' ').replace(/\\s+/g, ' ');
})()`;

/**
 * A person who sees the first page for the first time: knows no address, and scrolls at most once, on a phone. The seconds
 * are the person's: how fast the machine answers is not part of them.
 */
async function newcomer(page: Page) {
  const isPhone = (page.viewportSize()?.width ?? 0) < 600;
  let clicks = 0;
  let seconds = 0;
  await page.goto('/console');
  const press = async (target: ReturnType<Page['locator']>) => {
    const box = await target.first().boundingBox();
    if (box === null || box.y < 0 || box.y + box.height > (page.viewportSize()?.height ?? 0))
      throw new Error(`${target} is out of sight: ${await page.evaluate(IN_SIGHT)}`);
    clicks += 1;
    seconds += PERSON.thought + PERSON.click;
    await target.first().click();
  };
  return {
    link: (name: string | RegExp) => press(page.getByRole('link', { name })),
    button: (name: string) => press(page.getByRole('button', { name, exact: true })),
    async type(label: string, text: string) {
      const field = page
        .getByRole('main')
        .locator('input')
        .and(page.getByLabel(label, { exact: true }));
      await press(field);
      seconds += PERSON.homing + text.length * PERSON.key;
      await field.fill(text);
    },
    async sees(...words: readonly string[]) {
      let seen = String(await page.evaluate(IN_SIGHT));
      if (isPhone && words.some((word) => !seen.includes(word))) {
        await page.evaluate('scrollBy(0, innerHeight / 2)');
        seen += ` ${await page.evaluate(IN_SIGHT)}`;
        seconds += PERSON.swipe;
      }
      for (const word of words) expect(seen, seen).toContain(word);
      seconds += PERSON.thought;
    },
    spent: () => ({ clicks, seconds }),
  };
}

describe.runIf(browserPresent()).each([
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
])('somebody who has not seen the console before, on a screen $width wide', (viewport) => {
  let world: World;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    now = Date.UTC(2026, 10, 23, 10, 34);
    world = await startConsoleWorld({ clock: () => now, overrides: { timeZone: 'UTC' } });
    const appOf = (name: string, host: string) =>
      registerApp(world.origin, { redirectUri: `https://${host}/callback`, metadata: { client_name: name } });
    const writes = { parameters: { scope: 'openid profile courses:read courses:write' } };
    const reads = { parameters: { scope: 'openid profile courses:read' } };
    await connect(await appOf('Course Editor', 'editor.example'), writes);
    await connect(await appOf('Quiz Helper', 'quiz.example'), reads);
    await world.whileStopped(() => withStore(world.data, (store) => dateGrants(store, now - 44 * DAY)));
    const planner = await connect(await appOf('Study Planner', 'planner.example'), writes);
    now = Date.UTC(2026, 10, 23, 10, 40, 10);
    const leChat = await appOf('Le Chat', 'lechat.example');
    const { form } = await approved(leChat);
    const { status } = await postForm(String(leChat.server.token_endpoint), { ...form, code_verifier: 'x'.repeat(43) });
    expect(status).toBe(400);
    const orders = await fetch(`${world.origin}/api/v1/orders`, { headers: bearer(planner.access_token) });
    expect(orders.status).toBe(403);
    await world.reload({ origin: 'nonsense' });
    now += 25 * MINUTE;
    browser = await launchChromium();
    page = await browseConsole(browser, world, { viewport });
    // The directory is read with the first visit.
    const isRead = async () => {
      await page.goto('/console/apps');
      return page.getByText('Quiz Helper').count();
    };
    await vi.waitUntil(isRead, { timeout: 30_000 });
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  it('finds out why this member cannot connect', async () => {
    const person = await newcomer(page);
    await person.type('Member or app', 'Sam');
    await person.button('Search');
    await person.link(/^Sam/);
    await person.sees(
      'Attempts to connect',
      'Le Chat',
      'stopped',
      'The code_verifier does not match the code_challenge',
    );
    expect(within(person)).toEqual([]);
  });

  it('finds which apps can change data and are not used', async () => {
    const person = await newcomer(page);
    await person.link('1 app can change data and has not been used for 30 days');
    await person.sees('Course Editor', 'editor.example', '1 app');
    expect(await page.evaluate(IN_SIGHT)).not.toMatch(/Study Planner|Quiz Helper|Le Chat/);
    expect(within(person)).toEqual([]);
  });

  it('finds out what happened at 10:40', async () => {
    const person = await newcomer(page);
    await person.link('History');
    await person.type('Time', '2026-11-23T10:40');
    await person.button('Show');
    await person.sees(
      'New configuration refused',
      'Le Chat could not connect: The code_verifier does not match the code_challenge',
      'Study Planner could not connect: The token lacks a scope',
    );
    expect(within(person)).toEqual([]);
  });
});

/** Gives all grants a date, because oidc-provider has a clock of its own. */
async function dateGrants(store: Store, at: number): Promise<void> {
  const { entries } = await store.scan(['Grant'], undefined, 100);
  const dated = entries.map(({ payload, expiresAt }) => {
    const grant = JSON.parse(payload);
    const references = { member: grant.accountId, client: grant.clientId };
    return jsonEntry('Grant', grant.jti, { ...grant, iat: Math.floor(at / 1000) }, expiresAt, references);
  });
  await store.commit(dated.map((entry) => ({ op: 'put', entry })));
}

/** What is beyond the goal. */
function within({ spent }: { spent: () => { clicks: number; seconds: number } }): readonly string[] {
  const { clicks, seconds } = spent();
  if (process.env.COURSEGATE_PAGES === 'all') console.info(`${clicks} clicks, ${seconds.toFixed(1)} s`);
  return [
    ...(clicks > MOST_CLICKS ? [`${clicks} clicks`] : []),
    ...(seconds > MOST_SECONDS ? [`${seconds.toFixed(1)} s`] : []),
  ];
}
