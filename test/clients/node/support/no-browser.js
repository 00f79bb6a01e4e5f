/** For programs that open the member's browser themselves: a browser that only exists, since the harness plays the member. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Returns a folder for the program's files, which is removed when this process ends, and its environment. */
export function createHome() {
  const home = mkdtempSync(join(tmpdir(), 'client-matrix-'));
  process.once('exit', () => rmSync(home, { recursive: true, force: true }));
  const browser = join(home, 'xdg-open');
  writeFileSync(browser, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  return { home, env: { ...process.env, PATH: `${home}:${process.env.PATH}`, HOME: home, BROWSER: browser } };
}
