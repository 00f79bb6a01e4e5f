import { spawn } from 'node:child_process';

/** What the browser command depends on; injected in tests. */
export type Desktop = Pick<NodeJS.Process, 'platform' | 'env'>;

/**
 * The program and arguments that open `url` in the default browser; undefined without a display. The URL is passed as
 * one argument, never through a shell.
 */
export function browserCommand(url: string, { platform, env }: Desktop = process): [string, ...string[]] | undefined {
  // The URL comes from a server and goes to a local program, so only web addresses are allowed.
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return undefined;
  if (platform === 'darwin') return ['open', url];
  // `start` is a shell builtin, and the shell would interpret the & of the query. This is what `start` calls.
  if (platform === 'win32') return ['rundll32.exe', 'url.dll,FileProtocolHandler', url];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open', url] : undefined;
}

/** Opens `url` in the browser if there is one. Never throws or waits. */
export function openBrowser(url: string): void {
  const [program, ...args] = browserCommand(new URL(url).href) ?? [];
  if (program === undefined) return;
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  // Also without such a program: the URL has been printed.
  child.on('error', () => undefined);
  child.unref();
}
