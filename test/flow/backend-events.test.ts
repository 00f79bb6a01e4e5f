import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, registerApp } from '../support/app.ts';
import { COMMAND_SECRET } from '../support/commands.ts';
import { connect, statusOf } from '../support/connection.ts';
import { missing } from '../support/missing.ts';
import { startWorld, type World } from '../support/world.ts';

const run = promisify(execFile);
const PAGE = readFileSync(fileURLToPath(new URL('../../docs/backend-events.md', import.meta.url)), 'utf8');

/** The code of the page's only example in a language. */
function exampleIn(language: string): string {
  const found = [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))];
  if (found.length !== 1) throw new Error(`${found.length} examples in ${language}`);
  return found[0]?.[1] ?? '';
}

async function isPresent(program: string, ...args: readonly string[]): Promise<boolean> {
  return run(program, args).then(
    () => true,
    () => false,
  );
}

const LANGUAGES = [
  { language: 'sh', program: 'sh', asked: ['-c', 'command -v openssl && command -v curl'] },
  { language: 'python', program: 'python3', asked: ['--version'] },
  { language: 'php', program: 'php', asked: ['--version'] },
  { language: 'ruby', program: 'ruby', asked: ['--version'] },
];

/** Languages that our machines have. Those of a school's own backend are tested where they are installed. */
const NEEDED = new Set(['sh', 'python']);

describe('docs/backend-events.md', () => {
  let folder: string;
  let world: World;
  let app: App;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-examples-'));
    world = await startWorld({
      profile: 'A',
      environment: { COMMAND_SECRET },
      overrides: { admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } } },
    });
    app = await registerApp(world.origin);
  });
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true });
  });

  it.for(LANGUAGES)(
    'has an example in $language that revokes a member’s grants',
    async ({ language, program, asked }, context) => {
      const packages = language === 'sh' ? 'openssl curl' : program;
      const advice = `no ${packages} found: the example in ${language} needs it (apt-get install ${packages})`;
      if (!(await isPresent(program, ...asked))) context.skip(missing(advice, !NEEDED.has(language)) || advice);
      const file = join(folder, `example.${language}`);
      writeFileSync(file, exampleIn(language));
      const environment = { ...process.env, COURSEGATE_ADMIN: world.admin, COURSEGATE_ADMIN_SECRET: COMMAND_SECRET };

      const { access_token } = await connect(app);
      const { stdout } = await run(program, [file], { env: { ...environment, MEMBER: 'm-1001' } });
      expect(JSON.parse(stdout)).toEqual({ id: 'm-1001', ended: 1 });
      expect(await statusOf(world.origin, access_token)).toBe(401);

      // Member IDs with any characters, in the languages that can encode them.
      if (language !== 'sh') {
        const odd = await run(program, [file], { env: { ...environment, MEMBER: 'jörg/1?a=b c' } });
        expect(JSON.parse(odd.stdout)).toEqual({ id: 'jörg/1?a=b c', ended: 0 });
      }
      const wrong = run(program, [file], {
        env: { ...environment, COURSEGATE_ADMIN_SECRET: 'wrong', MEMBER: 'm-1001' },
      });
      await expect(wrong).rejects.toThrow();
    },
  );
});
