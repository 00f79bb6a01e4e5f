import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ending, EndReason, EventClient, EventType } from '../../src/events/event.ts';
import { EVENTS_SECRET } from '../support/event-receiver.ts';
import { missing } from '../support/missing.ts';

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

  it.for(LANGUAGES)(
    'has verification code in $language that accepts only our events',
    async ({ language, program, ask }, context) => {
      const present = await run(program, ['--version']).then(
        () => true,
        () => false,
      );
      const advice = `no ${program} found: the verification in ${language} needs it (apt-get install ${program})`;
      if (!present) context.skip(missing(advice, language !== 'python') || advice);
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

/** Every value of the unions in the code: the type checker refuses one that is missing here, or is no longer there. */
const TYPES = {
  'consent.given': true,
  'consent.denied': true,
  'grant.created': true,
  'grant.revoked': true,
  'client.registered': true,
  'client.updated': true,
  'client.deleted': true,
  'access.refused': true,
} satisfies Record<EventType, true>;
const ACTORS = { member: true, app: true, backend: true, operator: true, gate: true } satisfies Record<
  Ending['by'],
  true
>;
const KINDS = { registered: true, document: true } satisfies Record<EventClient['kind'], true>;
const REASONS = {
  disconnected: true,
  token_revoked: true,
  client_deleted: true,
  member_revoked: true,
  member_suspended: true,
  member_resumed: true,
  client_revoked: true,
  grant_revoked: true,
  member_gone: true,
  member_inactive: true,
  version_changed: true,
  session_over: true,
  code_reuse: true,
  refresh_token_reuse: true,
} satisfies Record<EndReason, true>;

describe('schema/events.schema.json', () => {
  const { oneOf, $defs } = JSON.parse(
    readFileSync(new URL('../../schema/events.schema.json', import.meta.url), 'utf8'),
  ) as {
    readonly oneOf: readonly { readonly properties: { readonly type: { const?: string; enum?: readonly string[] } } }[];
    readonly $defs: Record<string, { readonly properties: Record<string, { readonly enum?: readonly string[] }> }>;
  };
  const enumOf = (definition: string, property: string) => $defs[definition]?.properties[property]?.enum;

  it('has the types of events that the gate sends, and the one that the operator sends to test', () => {
    const types = oneOf.flatMap(({ properties: { type } }) => type.enum ?? [type.const ?? '']);
    expect(types.toSorted()).toEqual([...Object.keys(TYPES), 'test.ping'].toSorted());
    for (const type of types) expect(PAGE).toContain(type);
  });

  it('has everyone who can end a connection, every reason for it, and every kind of client', () => {
    expect(enumOf('revokedGrant', 'by')?.toSorted()).toEqual(Object.keys(ACTORS).toSorted());
    expect(enumOf('revokedGrant', 'reason')?.toSorted()).toEqual(Object.keys(REASONS).toSorted());
    expect(enumOf('client', 'kind')?.toSorted()).toEqual(Object.keys(KINDS).toSorted());
    for (const reason of Object.keys(REASONS)) expect(PAGE).toContain(`\`${reason}\``);
  });
});
