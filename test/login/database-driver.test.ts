import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderWith, SMALL } from '../config/fixture.ts';
import { runCommand } from '../support/command.ts';

const CONFIG = SMALL.replace(
  /^login:\n(?: {2}.*\n)+/m,
  'login: { kind: database, url: { env: DB }, query: "select id, hash from users where email = $1" }\n',
);

/** Simulates a machine on which these packages are not installed. */
const WITHOUT = (packages: readonly string[]) => `import { registerHooks } from 'node:module';
registerHooks({
  resolve(specifier, context, next) {
    if (!${JSON.stringify(packages)}.includes(specifier)) return next(specifier, context);
    throw Object.assign(new Error('Cannot find package ' + specifier), { code: 'ERR_MODULE_NOT_FOUND' });
  },
});
`;

describe('the driver of a database', () => {
  it.each<[string, string, string]>([
    ['check', 'postgres://reader:secret@127.0.0.1:1/school', 'pg'],
    ['check', 'mariadb://reader:secret@127.0.0.1:1/school', 'mysql2'],
    ['serve', 'postgres://reader:secret@127.0.0.1:1/school', 'pg'],
  ])('is named when it is missing: %s of %s asks for the package %s and exits', async (command, url, name) => {
    const folder = await folderWith({ 'gate.yaml': CONFIG, 'without.mjs': WITHOUT(['pg', 'mysql2/promise']) });
    const file = join(folder, 'gate.yaml');
    const { exited, stderr, stdout } = runCommand(command === 'check' ? ['check', file] : ['serve', '--config', file], {
      NODE_OPTIONS: `--import=${join(folder, 'without.mjs')}`,
      DB: url,
    });
    expect([await exited, stdout()]).toEqual([78, '']);
    expect(stderr()).toContain(
      `login.url: needs the package ${name} installed next to coursegate: npm install ${name}`,
    );
    expect(stderr()).not.toContain('secret');
  });

  it.each(['postgres://reader@127.0.0.1:1/school', 'mysql://reader@127.0.0.1:1/school', 'sqlite:/srv/none.db'])(
    'is found by check with %s, or is not needed, and nothing is connected',
    async (url) => {
      const without = WITHOUT(url.startsWith('sqlite:') ? ['pg', 'mysql2/promise'] : []);
      const folder = await folderWith({ 'gate.yaml': CONFIG, 'without.mjs': without });
      const { exited, stdout } = runCommand(['check', join(folder, 'gate.yaml')], {
        NODE_OPTIONS: `--import=${join(folder, 'without.mjs')}`,
        DB: url,
      });
      expect(await exited).toBe(0);
      expect(stdout()).toContain('valid');
    },
  );
});
