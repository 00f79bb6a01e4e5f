import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { type Screen, SIZE } from './screens.ts';

/** How long a frame is shown, in milliseconds. The last one is shown longer, to mark the end. */
const SHOWN = 2200;
const LAST_SHOWN = 4000;
/** The heights of the address bar above a screenshot, and of the caption below it. */
const BAR = 36;
const CAPTION = 40;

/** Draws an address bar, a pointer and a caption around each screenshot. */
export async function framesOf(browser: Browser, screens: readonly Screen[]): Promise<readonly Buffer[]> {
  const page = await browser.newPage({ viewport: { width: SIZE.width, height: SIZE.height + BAR + CAPTION } });
  const frames: Buffer[] = [];
  for (const [at, screen] of screens.entries()) {
    await page.setContent(frameHtml(screen, `${at + 1}/${screens.length}`));
    frames.push(await page.screenshot());
  }
  await page.close();
  return frames;
}

function frameHtml({ png, url, caption, pointer }: Screen, place: string): string {
  const { host, pathname } = new URL(url);
  const cursor =
    pointer &&
    `<svg style="left:${pointer.x}px;top:${pointer.y + BAR}px" width="22" height="30" viewBox="0 0 22 30"><path d="M1 1v23l6-5 4 9 4-2-4-9h8z" fill="#111" stroke="#fff" stroke-width="1.5"/></svg>`;
  return `<!doctype html><style>
body { margin: 0; font: 15px/1 system-ui, sans-serif; background: #fff; }
img { display: block; width: ${SIZE.width}px; height: ${SIZE.height}px; }
svg { position: absolute; }
.bar { height: ${BAR}px; background: #dfe5e4; display: flex; align-items: center; gap: 7px; padding-left: 12px; box-sizing: border-box; }
.bar i { width: 11px; height: 11px; border-radius: 50%; background: #aeb9b7; }
.bar b { background: #fff; border-radius: 6px; padding: 5px 12px; margin-left: 8px; font-weight: 400; width: 420px; color: #4d5c59; }
.bar b em { font-style: normal; color: #16211f; }
.caption { height: ${CAPTION}px; background: #16211f; color: #fff; display: flex; align-items: center; padding: 0 16px; box-sizing: border-box; }
.caption span { margin-left: auto; color: #a5b4b1; }
</style><div class="bar"><i></i><i></i><i></i><b><em>${host}</em>${pathname.replace(/[\w-]{30,}/, '…')}</b></div>
<img src="data:image/png;base64,${png.toString('base64')}">${cursor ?? ''}
<div class="caption">${caption}<span>${place}</span></div>`;
}

/** An animated WebP of the frames, by libwebp's img2webp (Debian: webp). */
export function animated(frames: readonly Buffer[]): Buffer {
  return inFolder((folder) => {
    const out = join(folder, 'out.webp');
    const args = frames.flatMap((frame, at) => {
      const file = join(folder, `${at}.png`);
      writeFileSync(file, palettePng(frame, 128));
      return ['-lossless', '-m', '6', '-d', String(at === frames.length - 1 ? LAST_SHOWN : SHOWN), file];
    });
    execFileSync('img2webp', ['-loop', '0', '-min_size', ...args, '-o', out], { stdio: 'ignore' });
    return readFileSync(out);
  });
}

/** The same picture with a palette of this many colours, by pngquant (Debian: pngquant). */
export function palettePng(png: Buffer, colors: number): Buffer {
  return execFileSync('pngquant', ['--speed', '1', '--nofs', String(colors), '-'], { input: png, maxBuffer: 1 << 26 });
}

function inFolder<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-recording-'));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
