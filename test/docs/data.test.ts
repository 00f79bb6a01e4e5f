import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { bearer, registerApp } from '../support/app.ts';
import { runCommand } from '../support/command.ts';
import { connect } from '../support/connection.ts';
import { OLU } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';
import { BLOCKS } from './support/pages.ts';

const ON_PAGE = BLOCKS.filter(({ file }) => file === 'docs/data.md');
const textOf = (word: string) => ON_PAGE.find(({ words }) => words[0] === word)?.text ?? '';
const CONFIGURED = ON_PAGE.filter(({ language }) => language === 'yaml').find(({ text }) =>
  text.includes('contract.graphql'),
);

describe('docs/data.md, with the demo’s event service', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-data-'));
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
    writeFileSync(join(folder, 'contract.graphql'), textOf('contract'));
    writeFileSync(join(folder, 'map-1.graphql'), textOf('mapping'));
    mkdirSync(join(folder, 'data'));
    writeFileSync(
      join(folder, 'coursegate.yaml'),
      `version: 1
profile: A
origin: https://school.example
store: { kind: sqlite, path: data/gate.db }
login: { kind: session, upstream: school, whoami: { path: /api/me }, loginUrl: https://school.example/login, cookies: [a] }
${CONFIGURED?.text.replace('http://127.0.0.1:4002', world.school.urls.events)}`,
    );
  });
  afterAll(async () => {
    await world?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('has commands that record the schema, find no difference, and accept the configuration', async () => {
    const [commands] = ON_PAGE.filter(({ language, text }) => language === 'sh' && text.includes('account pull'));
    const lines = (commands?.text ?? '').trim().split('\n');
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      const words = line.replace('npx coursegate ', '').replace('coursegate.yaml', join(folder, 'coursegate.yaml'));
      const command = runCommand(words.split(' '));
      expect(await command.exited, command.stderr()).toBe(0);
    }
    expect(readFileSync(join(folder, 'recorded/events.graphql'), 'utf8')).toContain('type EventRegistration ');
  });

  it('has a query that returns each member’s own bookings, and nothing else of the service', async () => {
    const { upstreamSchemas, schema, mappings } = parse(CONFIGURED?.text ?? '').account;
    await world.restart({
      account: {
        schema: join(folder, schema),
        mappings: join(folder, mappings),
        upstreamSchemas: { events: join(folder, upstreamSchemas.events) },
      },
      mcp: { tools: [], resources: [], prompts: [] },
    });
    const asked = async (query: string, member?: typeof OLU) => {
      const app = await registerApp(world.origin);
      const { access_token } = await connect(app, member === undefined ? {} : { member });
      const answer = await fetch(`${world.origin}/account/graphql`, {
        method: 'POST',
        headers: { ...bearer(access_token), 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      return { body: (await answer.json()) as { data?: unknown; errors?: unknown } };
    };
    const sam = await asked(textOf('query'));
    expect(sam.body).toEqual({
      data: {
        viewer: {
          places: {
            nodes: [{ seats: expect.any(Number), event: { title: expect.any(String) } }],
            pageInfo: { hasNextPage: expect.any(Boolean) },
          },
        },
      },
    });
    expect((await asked(textOf('query').replace('seats', 'id bookedAt'))).body.errors).toBeUndefined();
    const ids = JSON.stringify((await asked('{ viewer { places(first: 100) { nodes { id } } } }')).body);
    const others = JSON.stringify((await asked('{ viewer { places(first: 100) { nodes { id } } } }', OLU)).body);
    expect(others).not.toBe(ids);
    for (const query of ['{ internalAudit }', '{ viewer { enrolledCourses { nodes { slug } } } }']) {
      expect(JSON.stringify((await asked(query)).body.errors)).toContain('GRAPHQL_VALIDATION_FAILED');
    }
  });
});
