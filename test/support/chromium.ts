import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { missing } from './missing.ts';

const CANDIDATES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome'];

/** The Chromium on this machine, or undefined. */
export const CHROMIUM = CANDIDATES.find((path) => path !== undefined && existsSync(path));

/**
 * Whether the tests in a real browser can run. Without one they are skipped with a message that names what to install.
 * In CI this is an error, so that a green run means they ran.
 */
export function browserPresent(): boolean {
  if (CHROMIUM !== undefined) return true;
  return missing(
    'no Chromium found: the browser tests need one (apt-get install chromium, or set CHROMIUM to its path)',
  );
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
