import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseMembers } from '../../src/login/directory/settings-members.ts';
import { load } from '../config/fixture.ts';

const PAGES = ['directory', 'webhook', 'form'];

const BLOCKS = PAGES.flatMap((kind) => {
  const page = readFileSync(new URL(`../../docs/login/${kind}.md`, import.meta.url), 'utf8');
  return page.split(/^## /m).flatMap((section, at) => {
    const heading = at === 0 ? 'the beginning' : (section.split('\n')[0] ?? '');
    return [...section.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => ({ kind, heading, text }));
  });
});
const isConfiguration = ({ text }: { text: string }) => /^login:/m.test(text);

const AROUND = `version: 1
profile: B
origin: https://school.example
store: { kind: sqlite, path: data/gate.db }
`;
const UPSTREAMS = 'upstreams: { school: { url: http://127.0.0.1:4000 } }\n';

const MEMBERS = BLOCKS.find((block) => block.kind === 'directory' && !isConfiguration(block))?.text ?? '';

describe('the documentation of sign-ins with a password', () => {
  it.each(PAGES)('has configuration examples in docs/login/%s.md', (page) => {
    expect(BLOCKS.filter((block) => block.kind === page && isConfiguration(block)).length).toBeGreaterThan(1);
  });

  it.each(BLOCKS.filter(isConfiguration))(
    'has a configuration that loads: docs/login/$kind.md, $heading',
    async ({ kind, text }) => {
      const around = AROUND + (/^upstreams:/m.test(text) ? '' : UPSTREAMS);
      const secret = 's'.repeat(32);
      const files = { 'members.yaml': MEMBERS, 'login-webhook': secret };
      const { config } = await load(around + text.replace('/run/secrets/', ''), {
        files,
        environment: { LOGIN_WEBHOOK_SECRET: secret },
      });
      expect(config.login.kind).toBe(kind);
      expect(parse(text)).toHaveProperty('login.kind', kind);
    },
  );

  it('shows a valid members file', () => {
    const { members, problems } = parseMembers('members.yaml', MEMBERS);
    expect(problems).toEqual([]);
    expect(members?.length).toBeGreaterThan(1);
  });
});
