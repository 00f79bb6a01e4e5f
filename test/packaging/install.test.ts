import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, parseDocument } from 'yaml';
import type { Block } from '../docs/support/markdown.ts';
import { PAGES } from '../docs/support/pages.ts';
import { debianPresent } from '../support/debian.ts';
import { builderPresent } from './support/artefacts.ts';
import { startWithDownload, WAYS, type Way } from './support/downloads.ts';
import type { SchoolHost } from './support/school-host.ts';

const CONFIGURATION = '/etc/coursegate/coursegate.yaml';
const UNIT = '/etc/systemd/system/coursegate.service';
const LONGEST = 15 * 60_000;
const BLOCKS = PAGES.find(({ file }) => file === 'docs/install.md')?.blocks ?? [];

/** The sections of the page that each way consists of, in order. */
const LAST = ['The web server', 'Check it'];
const SECTIONS: Readonly<Record<Way, readonly string[]>> = {
  deb: ['Debian package', 'Configure and start', ...LAST],
  binary: ['One file', 'The user and the unit', 'Configure and start', ...LAST],
  npm: ['npm', 'The user and the unit', 'Configure and start', ...LAST],
  image: ['Image', ...LAST],
};

/** Commands that load packages reach the registries. All others reach the school’s machine only. */
const LOADS = /\b(?:apt-get|npm) install\b/;

/** What the administrator does with a block of each language. */
const FOLLOWED: Readonly<Record<string, (host: SchoolHost, text: string) => unknown>> = {
  sh: (host, text) =>
    host.asAdministrator(
      // The school's machine has no internet.
      text.replace(/coursegate doctor .*/, '$& --skip gate.client-documents'),
      LOADS.test(text) ? 'machine' : 'own',
    ),
  yaml(host, text) {
    const file = join(host.path, CONFIGURATION);
    // What `init` cannot see from outside: the member's id in whoami, and the session cookie.
    const filledIn = readFileSync(file, 'utf8').replace('"/FILL-IN"', '/id').replace('"FILL-IN"', 'session');
    const configuration = parseDocument(filledIn);
    for (const [key, value] of Object.entries(parse(text))) configuration.set(key, value);
    writeFileSync(file, configuration.toString());
  },
  systemd: (host, text) => writeFileSync(join(host.path, UNIT), text),
  // A line for nginx, which would not find the file where the page is tested.
  text: (host, text) => host.addToSite(text.trim()),
};

describe.skipIf(!debianPresent() || !builderPresent())('docs/install.md', () => {
  // The one with npm waits for hundreds of packages to be downloaded.
  it.concurrent.each(WAYS)(
    'leads from an empty Debian 12 to a doctor without complaints: %s',
    { timeout: LONGEST },
    async (way) => {
      await using hosts = new AsyncDisposableStack();
      const host = hosts.adopt(await startWithDownload(way), (started) => started.remove());
      let said: unknown;
      for (const section of SECTIONS[way]) {
        if (section === 'Check it') await host.untilReady();
        for (const { language, text } of blocksOf(section, way)) said = await FOLLOWED[language]?.(host, text);
      }
      expect(said).toMatch(/^https:\/\/school\.example: 0 failures, 0 warnings, \d+ passed/m);
    },
  );
});

/** The page shows two ways to run the doctor: on the machine, and in the container. */
function blocksOf(section: string, way: Way): readonly Block[] {
  const blocks = BLOCKS.filter(({ headings }) => headings.at(-1) === section);
  const own = blocks.filter(({ text }) => section !== 'Check it' || text.includes('docker') === (way === 'image'));
  if (own.length === 0) throw new Error(`docs/install.md has no commands in “${section}”`);
  return own;
}

describe('the unit in docs/install.md', () => {
  it('is the one of the Debian package', () => {
    const packaged = fileURLToPath(new URL('../../packaging/debian/coursegate.service', import.meta.url));
    expect(BLOCKS.find(({ language }) => language === 'systemd')?.text).toBe(readFileSync(packaged, 'utf8'));
  });
});
