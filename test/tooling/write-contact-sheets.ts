import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../support/chromium.ts';

/** `npm run test:pages` ends with this: contact sheets of the screenshots in each folder of test/artefacts. */
const ARTEFACTS = fileURLToPath(new URL('../artefacts', import.meta.url));

/** A screenshot, in the row of its page and the column of its screen. */
interface Shot {
  readonly row: string;
  readonly column: string;
  readonly file: string;
  readonly language: string;
  /** CSS pixels of the screen. */
  readonly width: number;
}

/** More could not be read on one image. */
const ROWS = 4;
const TALLEST = 560;

/** Writes contact sheets `FILE-1.png`, `FILE-2.png`…: a row for each page, a column for each screen. */
async function contactSheets(browser: Browser, shots: readonly Shot[], file: string): Promise<readonly string[]> {
  const rows = [...new Set(shots.map(({ row }) => row))];
  const written: string[] = [];
  const context = await browser.newContext({ viewport: { width: 1800, height: 900 } });
  try {
    const page = await context.newPage();
    for (let at = 0; at < rows.length; at += ROWS) {
      const shown = rows.slice(at, at + ROWS);
      await page.setContent(sheet(shown, shots));
      const path = `${file}-${at / ROWS + 1}.png`;
      writeFileSync(path, await page.screenshot({ fullPage: true }));
      written.push(path);
    }
  } finally {
    await context.close();
  }
  return written;
}

function sheet(rows: readonly string[], shots: readonly Shot[]): string {
  const row = (title: string) =>
    `<h2>${title}</h2><div>${shots
      .filter((shot) => shot.row === title)
      .map(figure)
      .join('')}</div>`;
  return `<!doctype html><style>
body { margin: 16px; background: #888; font: 14px sans-serif; }
h2 { margin: 12px 0 4px; font-size: 16px; }
div { display: flex; gap: 12px; align-items: flex-start; }
figure { margin: 0; }
img { display: block; max-height: ${TALLEST}px; object-fit: cover; object-position: top; }
</style>${rows.map(row).join('')}`;
}

function figure({ column, file, width }: Shot): string {
  const shown = width > 600 ? 430 : Math.round(width * 0.58);
  const data = readFileSync(file).toString('base64');
  return `<figure><figcaption>${column}</figcaption><img width="${shown}" src="data:image/png;base64,${data}"></figure>`;
}

/** The screenshots that closeLook left in a folder, page by page: TITLE.LANGUAGE.WIDTH.SCHEME.png. */
function shotsIn(folder: string): readonly Shot[] {
  return readdirSync(folder).flatMap((name) => {
    const [, row = '', language = '', width = '', scheme = ''] =
      /^(.+)\.([a-z]{2})\.(\d+)\.(light|dark)\.png$/.exec(name) ?? [];
    if (row === '') return [];
    const column = `${language} ${width} ${scheme}`;
    return [{ row, column, file: `${folder}/${name}`, language, width: Number(width) }];
  });
}

const browser = await launchChromium();
try {
  for (const folder of readdirSync(ARTEFACTS, { withFileTypes: true })) {
    if (!folder.isDirectory()) continue;
    const path = `${ARTEFACTS}/${folder.name}`;
    for (const name of readdirSync(path)) if (name.startsWith('sheet-')) rmSync(`${path}/${name}`);
    const shots = shotsIn(path).toSorted((a, b) => a.width - b.width || b.column.localeCompare(a.column));
    for (const [language, own] of Map.groupBy(shots, (shot) => shot.language)) {
      for (const file of await contactSheets(browser, own, `${path}/sheet-${language}`)) console.info(file);
    }
  }
} finally {
  await browser.close();
}
