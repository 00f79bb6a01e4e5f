/**
 * Writes the pictures of the documentation to docs/images, from the demo as it runs: `npm run pictures`. Needs Chromium and the
 * Debian packages webp and pngquant. FRAMES=folder keeps the recording's frames, to look at them one by one.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { launchChromium } from '../support/chromium.ts';
import { architectureSvg } from './pictures/architecture.ts';
import { anHourAgo } from './pictures/life.ts';
import { pageShots, wordsIn } from './pictures/page-shots.ts';
import { SCHEMES } from './pictures/palette.ts';
import { animated, framesOf, palettePng } from './pictures/recording.ts';
import { consentPictures, recordScreens, withDemo } from './pictures/screens.ts';
import { sequenceSvg } from './pictures/sequence.ts';
import { SEQUENCES } from './pictures/sequences.ts';

const FOLDER = fileURLToPath(new URL('../../docs/images', import.meta.url));
mkdirSync(FOLDER, { recursive: true });
const write = (name: string, content: string | Buffer) => {
  writeFileSync(`${FOLDER}/${name}`, content);
  console.log(`docs/images/${name}: ${(content.length / 1024).toFixed(0)} KiB`);
};

for (const scheme of SCHEMES) {
  write(`architecture-${scheme}.svg`, architectureSvg(scheme));
  for (const sequence of SEQUENCES) write(`${sequence.name}-${scheme}.svg`, sequenceSvg(sequence, scheme));
}
const browser = await launchChromium();
try {
  const shots = await anHourAgo((pass) => withDemo((demo) => pageShots(browser, demo, pass)));
  for (const { name, png } of shots) {
    for (const scheme of SCHEMES) write(`${name}-${scheme}.png`, palettePng(png[scheme], 64));
  }
  await withDemo(async (demo) => {
    const consent = await consentPictures(browser, demo);
    for (const scheme of SCHEMES) write(`consent-${scheme}.png`, palettePng(consent[scheme], 64));
    const screens = await recordScreens(browser, demo);
    writeFileSync(
      new URL('pictures/words.json', import.meta.url),
      `${JSON.stringify(wordsIn(screens, shots), null, 2)}\n`,
    );
    const frames = await framesOf(browser, screens);
    write('connect.webp', animated(frames));
    // For readers who turned animations off.
    write('connect-still.png', palettePng(frames[4] ?? Buffer.alloc(0), 64));
    const folder = process.env.FRAMES;
    if (folder !== undefined) for (const [at, frame] of frames.entries()) writeFileSync(`${folder}/${at}.png`, frame);
  });
} finally {
  await browser.close();
}
