import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKS } from '../../../src/operator/doctor/checks/checks.ts';
import { doctor } from '../../../src/operator/doctor/doctor.ts';
import { patiently } from '../../../src/operator/doctor/rate-limit.ts';
import { exitCode } from '../../../src/operator/doctor/report.ts';
import { startRecordingUpstream } from '../../support/recording-upstream.ts';
import { startWorld, type World } from '../../support/world.ts';
import { PAGE_PARTS } from './support/checks-page.ts';

/** Checks that do not apply to a gate on plain http on this machine. */
const PLAIN = ['reach.http-redirect', 'reach.hsts', 'reach.certificate'];
const IDS = CHECKS.map(({ id }) => id);

describe.each([{ profile: 'A' }, { profile: 'B' }])('our own gate in Profile $profile', ({ profile }) => {
  let world: World;
  beforeAll(async () => {
    // The default limits: the doctor must work within them.
    world = await startWorld({ profile, overrides: { limits: {} } });
  });
  afterAll(() => world.close());

  it.each(['', '/mcp', '/mcp/member'])('passes every check at "%s"', async (path) => {
    const report = await doctor({ url: world.origin + path, register: true });
    const levels = Object.groupBy(report.findings, ({ level }) => level);
    expect(levels.failure ?? []).toEqual([]);
    expect(levels.warning ?? []).toEqual([]);
    expect(levels.skipped?.map(({ check }) => check)).toEqual(PLAIN);
    expect(levels.pass?.map(({ check }) => check)).toEqual(IDS.filter((id) => !PLAIN.includes(id)));
    expect(report).toMatchObject({ complete: true, leftBehind: [], url: world.origin + path });
    expect(exitCode(report)).toBe(0);
  });

  it('gets no registration without --register, and the report says so', async () => {
    const report = await doctor({ url: `${world.origin}/mcp` });
    const skipped = report.findings.filter(({ level }) => level === 'skipped');
    expect(skipped.map(({ check }) => check)).toEqual([
      ...PLAIN,
      'token.unknown-code',
      'revocation.works',
      ...IDS.filter((id) => id.startsWith('registration.') || id.startsWith('authorization.')),
    ]);
    for (const { seen, check } of skipped) if (!PLAIN.includes(check)) expect(seen).toContain('--register');
    expect(report.findings.filter(({ level }) => level === 'failure' || level === 'warning')).toEqual([]);
  });
});

describe('the list of checks', () => {
  it('matches docs/doctor.md (npm run doctor-page)', () => {
    const page = readFileSync(fileURLToPath(new URL('../../../docs/doctor.md', import.meta.url)), 'utf8');
    for (const [name, text] of Object.entries(PAGE_PARTS))
      expect(page.split(`<!-- ${name} -->`)[1]?.split(`<!-- /${name} -->`)[0]?.trim()).toBe(text.trim());
  });
});

it('waits up to 5 seconds after a 429, once', async () => {
  const asked = (signal: AbortSignal, ...all: (string | undefined)[]) =>
    patiently(
      'the site',
      signal,
      async () => all.shift(),
      (later) => later,
    );
  const [over, never] = [AbortSignal.abort(), new AbortController().signal];
  for (const later of ['5', '', '0'])
    await expect(asked(over, later)).rejects.toThrow('the time for the audit was over');
  for (const later of ['6', 'tomorrow'])
    await expect(asked(over, later)).rejects.toThrow(`the site limits requests (429, retry after ${later} seconds)`);
  expect(await asked(never, undefined, '1')).toBeUndefined();
  expect(await asked(never, '-1', undefined)).toBeUndefined();
  await expect(asked(never, '0', '')).rejects.toThrow('the site limits requests (429)');
});

it('the doctor sends exactly the requests that clients of both MCP revisions send', async () => {
  const server = await startRecordingUpstream();
  try {
    await doctor({ url: `${server.url}/mcp`, only: ['mcp.initialize', 'mcp.discover'] });
    const posted = server.requests.filter(({ method }) => method === 'POST');
    const [initialize, discover] = ['initialize', 'server/discover'].map((wanted) => {
      const found = posted.find(({ body }) => JSON.parse(body.toString()).method === wanted);
      const { id, method, params, jsonrpc } = JSON.parse(found?.body.toString() ?? '{}');
      const fields = ['content-type', 'accept', 'mcp-protocol-version', 'mcp-method'].flatMap((name) =>
        (found?.values(name) ?? []).map((value) => `${name}: ${value}`),
      );
      return { message: { jsonrpc, id, method, params }, fields };
    });
    const clientInfo = { name: 'coursegate-doctor', version: expect.stringMatching(/^\d/) };
    expect(initialize).toEqual({
      message: {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
      },
      fields: [
        'content-type: application/json',
        'accept: application/json, text/event-stream',
        'mcp-protocol-version: 2025-11-25',
      ],
    });
    expect(discover).toEqual({
      message: {
        jsonrpc: '2.0',
        id: 1,
        method: 'server/discover',
        params: {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
            'io.modelcontextprotocol/clientInfo': clientInfo,
          },
        },
      },
      fields: [
        'content-type: application/json',
        'accept: application/json, text/event-stream',
        'mcp-protocol-version: 2026-07-28',
        'mcp-method: server/discover',
      ],
    });
  } finally {
    await server.close();
  }
});
