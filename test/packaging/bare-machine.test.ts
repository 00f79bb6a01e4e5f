import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Debian, debianPresent, startDebian } from '../support/debian.ts';
import { testsOfPrograms } from './support/bare-machine.ts';
import { nodeOf, packageOf, registryPresent } from './support/installed.ts';
import { cloneOfTree } from './support/release-clone.ts';

/** The Node and npm of a machine that has an older Node: `npm ci` brings the project's own. */
const [NODE, NPM] = ['20.19.5', '10.8.2'];
const AUTHORITIES = '/etc/ssl/registry.pem';
const IN_CLONE = 'cd /root/clone &&';
const INSTALL_TIME = 10 * 60_000;
const TEST_TIME = 120 * 60_000;

/** All tests (`all`), or those that can notice what the machine has (`quick`). Takes half an hour or more. */
const WANTED = process.env.COURSEGATE_BARE_MACHINE;
const TESTS = WANTED === 'all' ? [] : testsOfPrograms();

describe.skipIf(WANTED === undefined || !debianPresent() || !registryPresent())(
  'a clone on a Debian 12 with Node 20, git and nothing else',
  () => {
    let debian: Debian;
    let clone: string;
    beforeAll(async () => {
      const [node, npm] = await Promise.all([nodeOf(NODE), packageOf('npm', NPM)]);
      clone = cloneOfTree('Test').path;
      const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
      debian = await startDebian({ packages: ['git'], mounts: { '/root/clone': clone, '/root/.npm': cache } });
      const inside = (path: string) => join(debian.path, path);
      copyFileSync(node, inside('/usr/local/bin/node'));
      cpSync(npm, inside('/usr/local/lib/node_modules/npm'), { recursive: true });
      for (const name of ['npm', 'npx'])
        await debian.succeed(`ln -s ../lib/node_modules/npm/bin/${name}-cli.js /usr/local/bin/${name}`);
      // And the authority of a registry behind a proxy with its own.
      const further = process.env.NODE_EXTRA_CA_CERTS;
      writeFileSync(inside(AUTHORITIES), further === undefined ? '' : readFileSync(further, 'utf8'));
      await debian.succeed(`${IN_CLONE} npm ci`, { network: 'machine', environment: environment() });
    }, INSTALL_TIME);
    afterAll(async () => {
      await debian?.remove();
      if (clone !== undefined) rmSync(clone, { recursive: true });
    }, INSTALL_TIME);

    it('runs the demo', async () => {
      const demo = debian.start(`${IN_CLONE} exec setsid --wait sh -c 'echo $$ > /run/demo; exec npm start'`);
      await demo.line(/^coursegate ready http:\/\/localhost:8080 profile=A$/);
      // npm does not pass signals on, so the whole group gets it, as at Ctrl+C.
      await debian.succeed('kill -TERM -$(cat /run/demo)');
      await demo.exited;
    });

    it(
      'passes its checks and tests, and says what was skipped',
      async () => {
        // One at a time: the other tests of this run have the other half of the machine.
        const only = TESTS.length === 0 ? '' : `-- --maxWorkers=1 ${TESTS.join(' ')}`;
        const tests = await debian.run(`${IN_CLONE} npm test ${only}`);
        const said = tests.stdout.slice(-8_000);
        expect(tests.code, said + tests.stderr.slice(-8_000)).toBe(0);
        expect(said).toMatch(/^Skipped: \d+ tests that need what this machine lacks\.$/m);
        expect(said).toMatch(/^ {2}apt-get install --no-install-recommends .*\bcaddy\b.*\bcurl\b.*\bnginx\b/m);
      },
      TEST_TIME,
    );
  },
);

/** npm reaches the registry that this machine uses. */
function environment(): Record<string, string> {
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  return { NODE_EXTRA_CA_CERTS: AUTHORITIES, npm_config_registry: registry };
}
