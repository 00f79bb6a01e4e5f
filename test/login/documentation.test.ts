import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { load } from '../config/fixture.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { type Connected, connectedTo } from './support/backend.ts';

const PAGE = readFileSync(new URL('../../docs/login/session.md', import.meta.url), 'utf8');

/** Each YAML block of the page, and the heading it is under. */
const BLOCKS = PAGE.split(/^## /m).flatMap((section) => {
  const heading = section.split('\n')[0] ?? '';
  return [...section.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => ({ heading, text }));
});

const AROUND = `version: 1
profile: B
origin: https://school.example
store: { kind: sqlite, path: data/gate.db }
upstreams: { school: { url: http://127.0.0.1:4000 } }
site: { upstream: school }
`;

/** What such a backend returns for a member and for an anonymous request, by heading, in the order of the blocks. */
const ANSWERS: readonly (readonly [heading: string, member: Answer, sub: string, nobody: Answer])[] = [
  ['Rails with Devise', json({ id: 7, email: 'a@b.example', name: 'A', epoch: 'f00' }), '7', { status: 401 }],
  ['Django', json({ user: { id: 7, email: '', name: '', epoch: 'f00' } }), '7', json({ user: null })],
  ['Laravel', json({ id: 7, email: 'a@b.example', name: 'A', epoch: 'f00' }), '7', { status: 401, body: 'null' }],
  [
    'WordPress, read from a page',
    html('<meta name="member" content="42">'),
    '42',
    html('<meta name="member" content="0">'),
  ],
  [
    'A PHP site of your own',
    html('<input type="hidden" name="member_id" value="ann">'),
    'ann',
    html('<form method="post" id="login">'),
  ],
  ['A PHP site of your own', { headers: { 'x-school-member': '42' } }, '42', {}],
  ['When the password changes, or the member goes', json({ id: 7, epoch: 'f00' }), '7', { status: 403 }],
];

interface Answer {
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

function json(value: unknown): Answer {
  return { body: JSON.stringify(value) };
}

function html(inside: string): Answer {
  return { body: `<!doctype html><title>School</title><body>${inside}` };
}

describe('docs/login/session.md', () => {
  let backend: RecordingUpstream;
  let gate: Connected;
  beforeAll(async () => {
    backend = await startRecordingUpstream();
    gate = await connectedTo(backend.url);
  });
  afterAll(async () => {
    await gate.close();
    await backend.close();
  });

  it('has an example for each backend, each tested here', () => {
    expect(BLOCKS.map(({ heading }) => heading)).toEqual(ANSWERS.map(([heading]) => heading));
  });

  it.each(BLOCKS)('has a configuration that loads: $heading', async ({ text }) => {
    const { config } = await load(AROUND + text, { environment: { RECHECK_KEY: 'k'.repeat(32) } });
    expect(config.login.kind).toBe('session');
  });

  it.each(BLOCKS.map(({ heading, text }, at) => [heading, text, ANSWERS[at]] as const))(
    'recognises a member, an anonymous visitor and a failure: %s',
    async (_heading, text, answers) => {
      const [, member, sub, nobody] = answers ?? ['', {}, '', {}];
      const { login } = parse(text) as { login: { cookies: string[] } };
      const connector = gate.connector(login as unknown as Readonly<Record<string, unknown>>);
      const cookie = `${login.cookies[0]?.replace('*', 'x')}=held`;
      const asked = async ({ status = 200, body = '', headers = {} }: Answer) => {
        backend.script((_, response) => void response.writeHead(status, headers).end(body));
        return connector.identify({ cookie }, { trusted: false });
      };
      expect((await asked(member))?.sub).toBe(sub);
      expect(await asked(nobody)).toBeUndefined();
      await expect(asked({ status: 500, body: member.body ?? '' })).rejects.toMatchObject({
        code: 'login_unavailable',
      });
    },
  );

  it('names configuration keys that exist', () => {
    for (const [, name = ''] of PAGE.matchAll(/`(anonymous\.\w+|login\.\w+)`/g)) {
      expect([
        'anonymous.statuses',
        'anonymous.redirects',
        'anonymous.body',
        'anonymous.at',
        'anonymous.values',
        'login.kind',
        'login.cookies',
      ]).toContain(name.split(':')[0]);
    }
  });
});
