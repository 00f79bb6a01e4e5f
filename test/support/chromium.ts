import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const CANDIDATES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome'];

/** The browser on this machine, or undefined. */
const CHROMIUM = CANDIDATES.find((path) => path !== undefined && existsSync(path));

/**
 * Whether tests in a real browser run. Without one they are skipped by name, with what to install; in CI that is a
 * failure, since a green run must mean that they ran.
 */
export function browserPresent(): boolean {
  if (CHROMIUM !== undefined) return true;
  const advice =
    'no Chromium found: the browser tests need one (apt-get install chromium, or set CHROMIUM to its path)';
  if (process.env.CI) throw new Error(advice);
  console.warn(`SKIPPED: ${advice}`);
  return false;
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
