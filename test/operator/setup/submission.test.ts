import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerApp } from '../../support/app.ts';
import { browserPresent, CHROMIUM } from '../../support/chromium.ts';
import { runCommand } from '../../support/command.ts';
import { connect } from '../../support/connection.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { startWorld, type World } from '../../support/world.ts';

const CONFIG = fileURLToPath(new URL('../../../config/coursegate.yaml', import.meta.url));
const SCHEMA = 'https://developers.openai.com/apps-sdk/schemas/chatgpt-app-submission.v1.json';

interface Case {
  readonly description: string;
  readonly user_prompt: string;
  readonly tools_triggered: string | null;
  readonly expected_output: string;
}

describe('coursegate mcp submit', () => {
  let world: World;
  let proxy: FaultProxy;
  let folder: string;
  let token: string;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
    proxy = await startFaultProxy();
    proxy.target = world.origin;
    folder = mkdtempSync(join(tmpdir(), 'coursegate-submission-'));
    token = (await connect(await registerApp(world.origin))).access_token;
  });
  afterAll(async () => {
    await proxy.close();
    await world.close();
    rmSync(folder, { recursive: true });
  });

  let count = 0;
  const submit = async (given: Record<string, string> = {}, url = `${world.origin}/mcp`) => {
    const environment = { CHROMIUM: '/no/chromium', ...given };
    count += 1;
    const dir = join(folder, String(count));
    const command = runCommand(['mcp', 'submit', '--config', CONFIG, '--dir', dir, '--url', url], environment);
    const code = await command.exited;
    const read = (name: string) => readFileSync(join(dir, name), 'utf8');
    return {
      code,
      dir,
      said: command.stdout() + command.stderr(),
      read,
      submission: () => JSON.parse(read('chatgpt-app-submission.json')),
    };
  };

  it('runs five cases and three that must be refused, and writes what directories ask for', async () => {
    const { code, said, dir, read, submission } = await submit({ COURSEGATE_DOCTOR_TOKEN: token });
    expect(said).toContain(join(dir, 'server.json'));
    expect(said).toContain('There is no picture of the consent page: only a member who has signed in sees it');
    expect(said).not.toMatch(/fail|not run|does not fit/);
    expect(code).toBe(0);

    const { test_cases: positive, negative_test_cases: negative, tools, ...top } = submission();
    expect(top).toEqual({
      $schema: SCHEMA,
      schema_version: 1,
      app_info: {
        display_name: 'Harbour Lane School',
        subtitle: 'Your courses in the chat',
        description: expect.stringContaining('Search the courses of Harbour Lane School'),
        category: 'EDUCATION',
      },
    });
    expect(top.app_info.subtitle.length).toBeLessThanOrEqual(30);
    expect(Object.keys(tools)).toHaveLength(10);
    expect(tools.save_playback_position.annotations).toMatchObject({ readOnlyHint: false, openWorldHint: false });
    expect(tools.search_courses).toEqual({
      annotations: { readOnlyHint: true, openWorldHint: false, destructiveHint: false },
      justifications: {
        read_only_justification: expect.stringMatching(/^It only looks something up and changes nothing: Search the/),
        open_world_justification: 'It reaches only the systems of Harbour Lane School, and publishes nothing.',
        destructive_justification: 'It deletes and overwrites nothing.',
      },
    });
    expect(positive).toHaveLength(5);
    for (const one of positive as Case[]) {
      expect(Object.keys(tools)).toContain(one.tools_triggered);
      expect(one.expected_output).toMatch(/^The tool returns (a list of )?\w/);
    }
    expect(positive.map((one: Case) => one.user_prompt)).toEqual([
      'Which courses are there at Harbour Lane School?',
      'Show me my account at Harbour Lane School.',
      'Which courses do I have at Harbour Lane School?',
      'Help me continue watching at Harbour Lane School.',
      'Which orders do I have at Harbour Lane School?',
    ]);
    expect(positive[0]).toEqual({
      description: expect.stringMatching(/^Search the school's catalogue/),
      user_prompt: 'Which courses are there at Harbour Lane School?',
      file_attachment_urls: null,
      tools_triggered: 'search_courses',
      expected_output: 'The tool returns a list of courses, total, nextPage.',
      expected_output_url: null,
    });
    expect(negative).toHaveLength(3);
    for (const one of negative as Case[]) expect(one.tools_triggered).toBe(null);

    expect(JSON.parse(read('server.json'))).toEqual({
      $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
      name: expect.stringMatching(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
      title: 'Harbour Lane School',
      description: expect.stringMatching(/^.{1,100}$/),
      version: '1.0.0',
      websiteUrl: world.origin,
      remotes: [{ type: 'streamable-http', url: `${world.origin}/mcp` }],
    });
    const notes = read('reviewer-notes.md');
    expect(notes.match(/^- \[run\] /gm)).toHaveLength(8);
    expect(notes).toContain('- `save_playback_position`: ');
    expect(notes).toContain('\n\n1. Which courses are there at Harbour Lane School? (`search_courses`)\n');
    expect(notes).not.toContain(token);
    expect(read('chatgpt-app-submission.json')).not.toContain(token);
  }, 60_000);

  it('says which cases were not run without a token, and fails', async () => {
    const { code, said, submission, read } = await submit();
    expect(said).toMatch(/These test cases were not run: get_my_account, .*\. Give an access token with --token\./);
    expect(code).toBe(1);
    const { test_cases: positive, tools } = submission();
    expect(Object.keys(tools)).toHaveLength(10);
    expect(positive.map((one: Case) => one.tools_triggered).slice(0, 2)).toEqual(['search_courses', 'get_course']);
    expect(positive[2].expected_output).toBe('Not run yet: this tool needs an access token.');
    expect(read('reviewer-notes.md').match(/^- \[not run\] /gm)).toHaveLength(3);
  }, 60_000);

  it('describes a tool that it cannot see as the gate does', async () => {
    const [seen, unseen] = [await submit({ COURSEGATE_DOCTOR_TOKEN: token }), await submit()];
    expect(unseen.submission().tools).toEqual(seen.submission().tools);
  }, 60_000);

  it('finds a call that is not refused, and a tool that fails', async () => {
    proxy.fault = {
      toGate({ headers }) {
        headers.host = new URL(world.origin).host;
        return undefined;
      },
      fromGate(answered, { body }) {
        const { method, params } = JSON.parse(body);
        if (method === 'tools/list') answered.body = answered.body.replace(',"openWorldHint":false', '');
        if (method !== 'tools/call') return;
        const isError = params.name === 'get_course';
        const result = { isError, content: [{ type: 'text', text: 'no' }], structuredContent: { slug: 'a' } };
        Object.assign(answered, { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id: 1, result }) });
      },
    };
    const { code, said } = await submit({}, `${proxy.origin}/mcp`);
    expect(said).toContain('These test cases fail: get_course, A member’s data are refused without a sign-in');
    expect(said).toContain('No tool deletes courses.');
    expect(said).toMatch(/chatgpt-app-submission\.json does not fit OpenAI’s schema: .*openWorldHint/);
    expect(code).toBe(1);
  }, 60_000);

  it('says what to install for the screenshots, and which to take', async () => {
    const { said, dir, read } = await submit({ COURSEGATE_DOCTOR_TOKEN: token });
    expect(said).toContain(
      'no Chromium was found: install one (apt-get install chromium), or set CHROMIUM to its path.',
    );
    expect(readdirSync(dir).filter((name) => name.endsWith('.png'))).toEqual([]);
    expect(read('reviewer-notes.md')).toContain('Take each in the chat, cropped to the result and without the prompt');
  }, 60_000);

  it.skipIf(!browserPresent())(
    'takes pictures of the cards, with what the tools have returned',
    async () => {
      const { code, said, dir, read } = await submit({ COURSEGATE_DOCTOR_TOKEN: token, CHROMIUM: CHROMIUM ?? '' });
      expect(said).not.toContain('Chromium');
      expect(code).toBe(0);
      const pictures = readdirSync(dir).filter((name) => name.endsWith('.png'));
      expect(pictures).toEqual([
        'screenshot-1-search_courses.png',
        'screenshot-2-list_my_courses.png',
        'screenshot-3-list_my_orders.png',
        'screenshot-4-get_course.png',
      ]);
      for (const name of pictures) {
        const bytes = readFileSync(join(dir, name));
        expect(bytes.toString('latin1', 1, 4)).toBe('PNG');
        expect(bytes.readUInt32BE(16), name).toBeGreaterThanOrEqual(1000);
        // Two pixels each: a card has at most 500, and an empty one fewer than 80.
        expect(bytes.readUInt32BE(20), name).toBeLessThanOrEqual(1000);
        expect(bytes.readUInt32BE(20), name).toBeGreaterThan(160);
      }
      expect(read('reviewer-notes.md')).not.toContain('Take each in the chat');
    },
    240_000,
  );

  it('overwrites nothing', async () => {
    const { dir } = await submit();
    const again = runCommand(['mcp', 'submit', '--config', CONFIG, '--dir', dir, '--url', `${world.origin}/mcp`]);
    expect(await again.exited).toBe(1);
    expect(again.stderr()).toContain('EEXIST');
  }, 60_000);
});
