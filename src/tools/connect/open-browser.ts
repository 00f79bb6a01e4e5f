import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What the browser command depends on; injected in tests. */
export interface Desktop {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the file exists and is executable. */
  readonly runnable: (file: string) => boolean;
}

const HERE: Desktop = { platform: process.platform, env: process.env, runnable };

/**
 * The program and arguments that open `url` in the default browser; undefined without a browser or a display. The URL
 * is passed as one argument, never through a shell.
 */
export function browserCommand(url: string, desktop: Desktop = HERE): [program: string, ...args: string[]] | undefined {
  // The URL comes from a server and goes to a local program, so only web addresses are allowed.
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return undefined;
  const { platform, env } = desktop;
  if (platform === 'darwin') return found('open', desktop, [url]);
  // `start` is a shell builtin, and the shell would interpret the & of the query. This is what `start` calls.
  if (platform === 'win32') return ['rundll32.exe', 'url.dll,FileProtocolHandler', url];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? found('xdg-open', desktop, [url]) : undefined;
}

/** Opens `url` in the browser if there is one. Never throws or waits. */
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
