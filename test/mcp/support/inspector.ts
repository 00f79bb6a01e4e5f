import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { approve } from '../../support/member.ts';
import { freePort } from '../../support/world.ts';

const TOOL = fileURLToPath(new URL('../../../node_modules/.bin/mcp-inspector', import.meta.url));

interface InspectorRun {
  /** 0: done; 3: it needs a sign-in; 5: the tool failed or is not there. */
  readonly code: number | null;
  /** The result; undefined where there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a result is judged field by field
  readonly result: any;
  readonly stderr: string;
  /** The authorization request it sent its person to, if it did. */
  readonly asked: URL | undefined;
}

export interface Inspector {
  /** In: the server's URL, and what else is on the command line. */
  run(url: string, ...args: string[]): Promise<InspectorRun>;
  close(): void;
}

/**
 * The MCP Inspector without a screen, with a home of its own where it keeps its tokens. When it sends its person to a
 * browser, a member approves there and comes back to it.
 */
export async function createInspector(): Promise<Inspector> {
  const home = mkdtempSync(join(tmpdir(), 'coursegate-inspector-'));
  const programs = join(home, 'bin');
  mkdirSync(programs);
  // It says the address on standard error as well, where we read it; this browser only has to be there.
  writeFileSync(join(programs, 'xdg-open'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  const callback = `http://127.0.0.1:${await freePort()}/oauth/callback`;
  const running = new Set<ReturnType<typeof spawn>>();
  return {
    async run(url, ...args) {
      const fixed = ['--cli', url, '--transport', 'http', '--format', 'json', '--callback-url', callback];
      const child = spawn(process.execPath, [TOOL, ...fixed, ...args], {
        env: {
          PATH: `${programs}:${process.env.PATH ?? ''}`,
          HOME: home,
          BROWSER: join(programs, 'xdg-open'),
          MCP_AUTO_OPEN_ENABLED: 'true',
          MCP_INSPECTOR_SECRET_STORE: 'file',
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      running.add(child);
      let stdout = '';
      let stderr = '';
      let asked: URL | undefined;
      let returned: Promise<unknown> | undefined;
      child.stdout.on('data', (chunk: Buffer) => {
        stdout += chunk.toString();
      });
      child.stderr.on('data', (chunk: Buffer) => {
        stderr += chunk.toString();
        const found = /navigate to: (\S+)\n/.exec(stderr)?.[1];
        if (found === undefined || asked !== undefined) return;
        asked = new URL(found);
        returned = approve(found, callback).then((back) => fetch(back));
        // Nobody comes back then, and it would wait for them.
        returned.catch(() => child.kill());
      });
      const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
      running.delete(child);
      await returned;
      return { code, result: stdout === '' ? undefined : JSON.parse(stdout).result, stderr, asked };
    },
    close() {
      for (const child of running) child.kill();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
