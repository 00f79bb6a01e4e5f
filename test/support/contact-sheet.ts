import { readFileSync, writeFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';

/** A screenshot, in the row of its page and the column of its screen. */
export interface Shot {
  readonly row: string;
  readonly column: string;
  readonly file: string;
  /** CSS pixels of the screen. */
  readonly width: number;
}

/** More could not be read on one image. */
const ROWS = 4;
const TALLEST = 560;

/** Writes contact sheets `FILE-1.png`, `FILE-2.png`…: a row for each page, a column for each screen. */
export async function contactSheets(
  browser: Browser,
  shots: readonly Shot[],
  file: string,
): Promise<readonly string[]> {
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
