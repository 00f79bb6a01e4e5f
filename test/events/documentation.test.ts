import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENTS_SECRET } from '../support/event-receiver.ts';

const run = promisify(execFile);
const PAGE = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
const BODY = '{"type":"test.ping","timestamp":"2026-03-01T09:30:00.000Z","data":{"origin":"https://schöol.example"}}';

/** The page's example in a language, and how it is asked: the fields and the body come as JSON on the command line. */
const LANGUAGES = [
  {
    language: 'python',
    program: 'python3',
    ask: 'import sys\nh, b = json.loads(sys.argv[1])\nprint(verify(h, b.encode())["type"])',
  },
  {
    language: 'php',
    program: 'php',
    ask: '[$h, $b] = json_decode($argv[1], true);\necho verify($h, $b)["type"];',
  },
  { language: 'ruby', program: 'ruby', ask: 'h, b = JSON.parse(ARGV[0])\nputs verify(h, b)["type"]' },
];

describe('docs/events.md', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-verify-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const signed = (at: Date, secret = EVENTS_SECRET) => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    // As while one secret follows another.
    'webhook-signature': `v1,${'A'.repeat(43)}= ${new Webhook(secret).sign('msg_1', at, BODY)}`,
  });

  it.each(LANGUAGES)(
    'has verification code in $language that accepts only our events',
    async ({ language, program, ask }) => {
      const present = await run(program, ['--version']).then(
        () => true,
        () => false,
      );
      if (!present && (process.env.CI === undefined || language !== 'python')) {
        console.warn(`the verification in ${language} was not run: apt-get install ${program}`);
        return;
      }
      const [, code = ''] = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(PAGE) ?? [];
      const file = join(folder, `verify.${language}`);
      writeFileSync(file, `${code}\n${ask}\n`);
      const verify = (headers: object, body = BODY) =>
        run(program, [file, JSON.stringify([headers, body])], { env: { ...process.env, EVENTS_SECRET } });
      const now = new Date();
      expect((await verify(signed(now))).stdout.trim()).toBe('test.ping');
      await expect(verify(signed(now, `whsec_${Buffer.alloc(32).toString('base64')}`))).rejects.toThrow(
        'not from the gate',
      );
      await expect(verify(signed(now), BODY.replace('ping', 'pong'))).rejects.toThrow('not from the gate');
      await expect(verify(signed(new Date(now.getTime() - 600_000)))).rejects.toThrow('too old, or too new');
    },
  );
});
