import type { Page } from 'playwright-core';

/** Presses Tab until the element with this selector has the focus. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 200; presses += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
  }
  throw new Error(`the Tab key does not reach ${selector}`);
}

/** Numbers everything that a keyboard must reach, in the order of the document, and puts the focus before all of it. */
const NUMBER = `(() => {
  // The Tab key goes on from here.
  const start = document.createElement('span');
  start.tabIndex = -1;
  document.body.prepend(start);
  start.focus();
  const all = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')]
    .filter((one) => !one.disabled && one.checkVisibility());
  const groups = new Set();
  return all.filter((one) => {
    // The Tab key stops once at a group of radio buttons.
    if (one.type !== 'radio') return true;
    if (groups.has(one.name)) return false;
    return groups.add(one.name);
  }).map((one, at) => { one.dataset.stop = at; return one.outerHTML.slice(0, 80); });
})()`;

/** The number of the element in focus, whether the focus can be seen, and whether the element is on the screen. */
const STOP = `(() => {
  const one = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  const box = one.getBoundingClientRect();
  return {
    stop: one.type === 'radio' ? document.querySelector('[data-stop][name="' + one.name + '"]').dataset.stop : one.dataset.stop,
    seen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
    here: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
  };
})()`;

/** What is wrong for someone with a keyboard: what the Tab key does not reach in the order of the page, or not visibly. */
export async function keyboardFindings(page: Page): Promise<readonly string[]> {
  const findings: string[] = [];
  const expected = (await page.evaluate(NUMBER)) as readonly string[];
  for (const [at, element] of expected.entries()) {
    await page.keyboard.press('Tab');
    const { stop, seen, here } = (await page.evaluate(STOP)) as { stop?: string; seen: boolean; here: boolean };
    if (stop !== String(at)) return [...findings, `Tab ${at + 1} does not reach ${element}`];
    if (!seen) findings.push(`the focus cannot be seen on ${element}`);
    if (!here) findings.push(`the focus is off the screen on ${element}`);
  }
  // Behind the last element, the Tab key would leave the page.
  await page.evaluate("(document.querySelector('[autofocus]') ?? document.body.firstElementChild).focus()");
  return findings;
}
