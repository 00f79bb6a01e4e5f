import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { approve } from '../../support/member.ts';
import { freePort } from '../../support/world.ts';

const TOOL = fileURLToPath(new URL('../../../node_modules/.bin/mcp-inspector', import.meta.url));

interface InspectorRun {
  /** 0 is success, 3 means that it needs a sign-in, 5 that the tool failed or does not exist. */
  readonly code: number | null;
  /** The result; undefined if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a result is judged field by field
  readonly result: any;
  readonly stderr: string;
  /** The authorization request that it opened for its user, if any. */
  readonly asked: URL | undefined;
}

export interface Inspector {
  /** Runs it against the server at `url` with these additional arguments. */
  run(url: string, ...args: string[]): Promise<InspectorRun>;
  close(): void;
}

/**
 * The MCP Inspector on the command line, with a separate home folder for its tokens. When it opens an authorization
 * request, a member approves and is redirected back to it.
 */
export async function createInspector(): Promise<Inspector> {
  const home = mkdtempSync(join(tmpdir(), 'coursegate-inspector-'));
  const programs = join(home, 'bin');
  mkdirSync(programs);
  // The Inspector also prints the URL to standard error, where the test reads it; this browser only has to exist.
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
        // The redirect never comes then, and the Inspector would wait for it.
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
