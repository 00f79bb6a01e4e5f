import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What the choice of a browser command depends on; injected in tests. */
export interface Desktop {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether this file exists and may be run. */
  readonly runnable: (file: string) => boolean;
}

const HERE: Desktop = { platform: process.platform, env: process.env, runnable };

/**
 * The program and arguments that open `url` in the person's browser; undefined when there is none, or no display to
 * show it on. The URL is one argument of a program, never part of a shell line.
 */
export function browserCommand(url: string, desktop: Desktop = HERE): [program: string, ...args: string[]] | undefined {
  // A URL of a server goes to a program of this machine: nothing but a web address may.
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return undefined;
  const { platform, env } = desktop;
  if (platform === 'darwin') return found('open', desktop, [url]);
  // `start` is a word of the shell, which would read the & of the query as its own; this is what it ends up calling.
  if (platform === 'win32') return ['rundll32.exe', 'url.dll,FileProtocolHandler', url];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? found('xdg-open', desktop, [url]) : undefined;
}

/** Opens `url` in the browser where that is possible, and does nothing where it is not. Never throws, never waits. */
export function openBrowser(url: string): void {
  const [program, ...args] = browserCommand(new URL(url).href) ?? [];
  if (program === undefined) return;
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}

function found(name: string, { env, runnable }: Desktop, args: string[]): [string, ...string[]] | undefined {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const program = folders.map((folder) => join(folder, name)).find(runnable);
  return program === undefined ? undefined : [program, ...args];
}

function runnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
