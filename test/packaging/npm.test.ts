import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { ROOT } from '../../packaging/files.ts';
import { approve } from '../support/member.ts';
import { freePort } from '../support/world.ts';
import { install, nodeOf, npx, pack, type Running, registryPresent } from './support/installed.ts';

const OLDER = '22.22.3';
const OLDEST = '24.11.0';
const MIB = 1024 ** 2;

describe.skipIf(!registryPresent())('the npm package', () => {
  let packed: Awaited<ReturnType<typeof pack>>;
  let folder: string;
  beforeAll(async () => {
    const installed = async () => {
      packed = await pack();
      folder = await install(packed.tarball);
    };
    // The tests below find these then.
    await Promise.all([installed(), ...[OLDER, OLDEST, manifest.devDependencies.node].map(nodeOf)]);
  }, 300_000);
  afterAll(() => {
    rmSync(dirname(packed.tarball), { recursive: true });
    rmSync(folder, { recursive: true });
  });

  it('has what runs and no tests, in 3 MB at most', () => {
    expect(packed.files).toEqual(
      expect.arrayContaining(['bin/coursegate.js', 'dist/main.js', 'dist/main.js.map', 'LICENSE', 'README.md']),
    );
    const folders = new Set(packed.files.map((path) => path.split('/')[0]));
    expect([...folders].sort()).toEqual(
      ['LICENSE', 'README.md', 'bin', 'config', 'dist', 'docs', 'integrations', 'package.json', 'schema'].sort(),
    );
    expect(packed.files.filter((path) => /\.test\.|(?:^|\/)tests?\/|(?<!\.d)\.ts$|__pycache__/.test(path))).toEqual([]);
    expect(statSync(packed.tarball).size).toBeLessThanOrEqual(3 * MIB);
  });

  it('passes npm publish --dry-run', () => {
    const empty = mkdtempSync(join(tmpdir(), 'coursegate-publish-'));
    try {
      const said = execFileSync('npm', ['publish', '--dry-run', '--json', packed.tarball], {
        cwd: empty,
        stdio: 'pipe',
      });
      expect(said.toString()).toContain(`coursegate@${manifest.version}`);
    } finally {
      rmSync(empty, { recursive: true });
    }
  });

  it('says on an older Node what to install', async () => {
    const older = await nodeOf(OLDER);
    const command = npx(folder, older, ['--version']);
    expect(await command.exited).toBe(1);
    expect(command.stdout()).toContain(
      'coursegate needs Node 24.11 or later; this is 22.22.3. Install the current one: https://nodejs.org/en/download\n',
    );
  });

  it('declares the oldest Node that it is tested on', () => {
    expect(manifest.engines.node).toBe(`>=${OLDEST}`);
  });

  describe.each([OLDEST, manifest.devDependencies.node])('on Node %s', (version) => {
    let node: string;
    let demo: Running;
    let origin: string;
    beforeAll(async () => {
      node = await nodeOf(version);
      origin = `http://localhost:${await freePort()}`;
      demo = npx(folder, node, ['demo'], {
        PORT: new URL(origin).port,
        ...{ ADMIN_PORT: '0', SCHOOL_PORT: '0', CLIENT_PORT: '0' },
      });
      await demo.line(/^coursegate ready/);
    });
    afterAll(async () => {
      await demo.stop();
      rmSync(join(folder, 'gate'), { recursive: true, force: true });
    });

    /** Runs a command until it exits, and returns what it printed. */
    const ran = async (...args: string[]) => {
      const command = npx(folder, node, args);
      return { code: await command.exited, said: command.stdout() };
    };

    it('--help prints every command, and check accepts the demo’s configuration', async () => {
      const help = await ran('--help');
      expect(help.code).toBe(0);
      for (const name of ['demo', 'serve', 'check', 'init', 'connect', 'doctor'])
        expect(help.said).toContain(`  ${name}`);
      const check = await ran('check', 'node_modules/coursegate/config/coursegate.yaml');
      expect(check.code).toBe(0);
    });

    it('demo runs, keeps nothing in the folder, and connect reads from it as an app', async () => {
      const app = npx(folder, node, ['connect', origin, '--no-browser']);
      const line = await app.line(/^ {2}http:\/\/127\.0\.0\.1:\d+\/$/);
      const { headers } = await fetch(line.trim(), { redirect: 'manual' });
      const address = headers.get('location') ?? '';
      const callback = await approve(address, new URL(address).searchParams.get('redirect_uri') ?? '');
      expect((await fetch(callback)).status).toBe(200);
      expect(await app.exited).toBe(0);
      expect(app.stdout()).toContain('m-1001');
      expect(existsSync(join(folder, 'data'))).toBe(false);
      expect(existsSync(join(folder, 'node_modules/coursegate/data'))).toBe(false);
    });

    it('doctor finds nothing wrong with the demo', async () => {
      const { code, said } = await ran('doctor', origin);
      expect(said).toContain(' 0 failures, 0 warnings, ');
      expect(code).toBe(0);
    });

    it('mcp submit and doctor --directory know the demo, without a token what strangers see', async () => {
      const config = ['--config', 'node_modules/coursegate/config/coursegate.yaml'];
      const submit = await ran('mcp', 'submit', ...config, '--dir', 'submission', '--url', `${origin}/mcp`);
      expect(submit.said).toContain('search_courses');
      expect(submit.code).toBe(1);
      expect(readdirSync(join(folder, 'submission'))).toEqual(
        expect.arrayContaining(['chatgpt-app-submission.json', 'reviewer-notes.md', 'server.json']),
      );
      rmSync(join(folder, 'submission'), { recursive: true });
      for (const directory of ['claude', 'openai']) {
        const { code, said } = await ran('doctor', '--directory', directory, `${origin}/mcp`, ...config);
        expect(said).toContain(' 0 failures, 0 warnings, ');
        expect(code).toBe(0);
      }
    });

    it('init writes a drop-in and a configuration that check accepts and serve runs', async () => {
      const school = /directly at (http:\S+)\)/.exec(demo.stdout())?.[1] ?? '';
      const [port, adminPort] = [String(await freePort()), String(await freePort())];
      const init = await ran(
        ...['init', '--upstream', school, '--framework', 'wordpress', '--dir', 'gate', '--yes'],
        ...['--port', port, '--admin-port', adminPort],
      );
      expect(init.code).toBe(0);
      expect(existsSync(join(folder, 'gate/drop-in/coursegate.php'))).toBe(true);
      const check = await ran('check', 'gate/coursegate.yaml');
      expect(check.code).toBe(0);
      const gate = npx(folder, node, ['serve', '--config', 'gate/coursegate.yaml']);
      await gate.line(/^coursegate ready/);
      await gate.stop();
    });
  });
});

it('a clone runs its sources, also when a build is beside them', () => {
  const clone = mkdtempSync(join(tmpdir(), 'coursegate-clone-'));
  try {
    for (const part of ['bin', 'src', 'package.json']) cpSync(join(ROOT, part), join(clone, part), { recursive: true });
    mkdirSync(join(clone, 'dist'));
    writeFileSync(join(clone, 'dist/main.js'), "console.log('the build');\n");
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
    const run = () =>
      execFileSync(process.execPath, [join(clone, 'bin/coursegate.js'), '--version'], { encoding: 'utf8' });
    expect(run()).toBe(`${manifest.version}\n`);
    rmSync(join(clone, 'src'), { recursive: true });
    expect(run()).toBe('the build\n');
  } finally {
    rmSync(clone, { recursive: true });
  }
});
