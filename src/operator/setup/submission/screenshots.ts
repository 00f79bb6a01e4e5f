import { execFile } from 'node:child_process';
import { access, constants, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { filledFile } from '../../../http/template.ts';
import { codePath } from '../../../installation.ts';
import type { ToolCall } from '../../doctor/directory/calls.ts';
import { readCard, type ToolServer } from '../../doctor/directory/tools.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** CSS pixels. With two pixels for each, a picture is wider than the 1,000 that directories want. */
const WIDTH = 520;
const MOST = 5;
/** Milliseconds for one picture. */
const PATIENCE = 60_000;

/** The path of a Chromium: `CHROMIUM`, or one that is on the path of programs; undefined if there is none. */
export async function findChromium({ CHROMIUM, PATH = '' }: Readonly<Record<string, string | undefined>>) {
  const usual = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  for (const path of CHROMIUM === undefined ? usual : [CHROMIUM])
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  return undefined;
}

/** Takes pictures of cards with what their tools have returned, and returns their paths. */
export async function takeScreenshots(
  chromium: string,
  server: ToolServer,
  calls: readonly ToolCall[],
  folder: string,
): Promise<readonly string[]> {
  const work = await mkdtemp(join(tmpdir(), 'coursegate-cards-'));
  const run = async (page: string, ...args: readonly string[]): Promise<string> => {
    // A sandbox needs rights that root and containers do not have. The page is ours, and its policy lets it load nothing.
    const always = [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--hide-scrollbars',
      '--virtual-time-budget=5000',
    ];
    const given = [...always, `--user-data-dir=${join(work, 'profile')}`, ...args, pathToFileURL(page).href];
    return (await promisify(execFile)(chromium, given, { timeout: PATIENCE, maxBuffer: 2 ** 24 })).stdout;
  };
  const written: string[] = [];
  try {
    for (const { name, tool, content } of calls.slice(0, MOST)) {
      const page = join(work, `${written.length}.html`);
      const picture = join(folder, `screenshot-${written.length + 1}-${name}.png`);
      const result = JSON.stringify({ content: [], structuredContent: content }).replaceAll('<', '\\u003c');
      const host = filledFile(codePath('operator/setup/submission/card-host.mustache'), { result });
      const card = await readCard(server, tool.card ?? '');
      await writeFile(
        page,
        card.html.replace(/<html[^>]{0,100}>/i, (begin) => begin + host),
      );
      const [, height = '500'] =
        /data-height="(\d+)"/.exec(await run(page, `--window-size=${WIDTH},500`, '--dump-dom')) ?? [];
      await run(page, `--window-size=${WIDTH},${height}`, '--force-device-scale-factor=2', `--screenshot=${picture}`);
      written.push(picture);
    }
    return written;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
