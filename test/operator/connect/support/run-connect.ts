import { type ConnectOptions, connect } from '../../../../src/operator/connect/connect.ts';
import type { ConnectError } from '../../../../src/operator/connect/connect-error.ts';
import { CookieBrowser } from './cookie-browser.ts';

/** Runs connect as the command does, with a browser that follows every redirect. */
export async function runConnect(url: string, more: Partial<ConnectOptions> = {}) {
  const [progress, data]: [string[], string[]] = [[], []];
  let thrown: unknown;
  const open = async (address: string) => void (await new CookieBrowser().follow(address));
  await connect({
    url,
    open,
    timeout: 10,
    print: (line) => progress.push(line),
    result: (line) => data.push(line),
    ...more,
  }).catch((error: unknown) => {
    thrown = error;
  });
  return { progress: progress.join('\n'), data: data.join('\n'), error: thrown as ConnectError | undefined };
}
