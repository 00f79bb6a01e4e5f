import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { doctor } from '../../../src/operator/doctor/doctor.ts';
import type { Finding } from '../../../src/operator/doctor/finding.ts';
import { type Report, toJson } from '../../../src/operator/doctor/report.ts';
import { toText } from '../../../src/operator/doctor/report-text.ts';
import { runCommand } from '../../support/command.ts';
import { startWorld } from '../../support/world.ts';

const SCHEMA = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../../schema/doctor-report.schema.json', import.meta.url)), 'utf8'),
) as object;
const ajv = new Ajv2020({ strict: false });
formats.default(ajv);
const valid = ajv.compile(SCHEMA);

const about = {
  theme: 'cache',
  title: 'Challenges stay out of caches',
  reference: 'RFC 9111 §3',
  fix: 'Send Cache-Control: no-store.',
};
const REPORT: Report = {
  url: 'https://school.example/mcp',
  startedAt: new Date(0),
  seconds: 1.5,
  complete: true,
  findings: [
    {
      check: 'reach.https',
      theme: 'reach',
      title: 'The site uses https',
      level: 'pass',
      seen: 'https://school.example',
      reference: 'RFC 9728 §2',
    },
    { ...about, check: 'cache.challenge', level: 'failure', seen: '/mcp comes from a cache (Age: 30)' },
    {
      ...about,
      check: 'cache.metadata',
      title: 'The metadata may be cached briefly',
      level: 'warning',
      seen: 'it sets a cookie',
    },
    {
      check: 'registration.works',
      theme: 'registration',
      title: 'A public app can register',
      level: 'skipped',
      seen: 'apps are registered only with --register',
      reference: 'RFC 7591 §3',
    },
  ],
  leftBehind: [],
};

describe('the report', () => {
  it('begins with what is wrong, and counts the rest', () => {
    const [https, , , skipped] = REPORT.findings as readonly Finding[] as [Finding, Finding, Finding, Finding];
    const more = [
      { ...https, check: 'reach.clock', title: 'The server’s clock is correct' },
      { ...skipped, check: 'registration.size' },
      { ...skipped, check: 'reach.http-redirect', seen: 'this address has no plain http counterpart' },
    ];
    expect(
      toText({ ...REPORT, findings: [...REPORT.findings, ...more] }, { width: 60, colour: false }),
    ).toBe(`✗ Challenges stay out of caches
  seen   /mcp comes from a cache (Age: 30)
  fix    Send Cache-Control: no-store.
  see    RFC 9111 §3  [cache.challenge]

! The metadata may be cached briefly
  seen   it sets a cookie
  fix    Send Cache-Control: no-store.
  see    RFC 9111 §3  [cache.metadata]

✓ Reaching the site: 2 checks passed
– 2 checks skipped: apps are registered only with --register
– 1 check skipped: this address has no plain http
  counterpart

https://school.example/mcp: 1 failure, 1 warning, 2 passed, 3 skipped (1.5 s)
`);
  });

  it('respects the width, breaks long words, and uses colour only on request', () => {
    const long = {
      ...REPORT,
      findings: [{ ...REPORT.findings[1], seen: 'x'.repeat(200) } as Report['findings'][number]],
    };
    const lines = toText(long, { width: 50, colour: false }).split('\n');
    expect(Math.max(...lines.slice(0, -2).map((line) => line.length))).toBeLessThanOrEqual(50);
    expect(lines.join('').replaceAll(/[^x]/g, '').length).toBeGreaterThanOrEqual(200);
    expect(toText(REPORT, { width: 60, colour: true })).toContain('\u001b[31m✗\u001b[0m');
  });

  it('matches the published schema as JSON', () => {
    expect(valid(toJson(REPORT)), JSON.stringify(valid.errors)).toBe(true);
    expect(valid(toJson({ ...REPORT, unreachable: 'no', complete: false, findings: [] }))).toBe(true);
    expect(toJson(REPORT)).toMatchObject({
      version: 1,
      reached: true,
      summary: { passed: 1, skipped: 1, warnings: 1, failures: 1 },
    });
    expect(valid({ ...toJson(REPORT), more: 1 })).toBe(false);
  });
});

describe('coursegate doctor', () => {
  it('exits 0 for our own gate, and prints only JSON with --json', async () => {
    const world = await startWorld({ profile: 'A' });
    try {
      const command = runCommand(['doctor', `${world.origin}/mcp`, '--json', '--register']);
      expect(await command.exited).toBe(0);
      expect(command.stderr()).toBe('');
      const printed: unknown = JSON.parse(command.stdout());
      expect(valid(printed), JSON.stringify(valid.errors)).toBe(true);
      expect(printed).toMatchObject({ complete: true, summary: { failures: 0, warnings: 0, skipped: 3 } });

      const some = runCommand(['doctor', `${world.origin}/mcp`, '--only', 'cors,reach.clock', '--skip', 'cors.token'], {
        NO_COLOR: '1',
      });
      expect(await some.exited).toBe(0);
      expect(some.stdout()).toMatch(/^✓ Reaching the site: 1 check passed\n✓ Apps in a browser: 4 checks passed$/m);
      expect(some.stdout()).toContain('0 failures, 0 warnings, 5 passed, 0 skipped');
      expect(some.stdout()).not.toContain('\u001b');
    } finally {
      await world.close();
    }
  });

  it('exits 2 for another kind of server or if nothing responds, and 64 for invalid arguments', async () => {
    const server = createServer((_request, response) => response.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const bad = runCommand(['doctor', url]);
    expect(await bad.exited).toBe(2);
    expect(bad.stdout()).toContain('is no gate: /.well-known/oauth-protected-resource: 200');
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
    const gone = runCommand(['doctor', url]);
    expect(await gone.exited).toBe(2);
    expect(gone.stdout()).toMatch(/cannot be reached: nothing is listening there: is the\s+gate running\?\n/);
    const json = runCommand(['doctor', url, '--json']);
    expect(await json.exited).toBe(2);
    expect(JSON.parse(json.stdout())).toMatchObject({
      reached: false,
      unreachable: 'nothing is listening there: is the gate running?',
      findings: [],
    });
    for (const status of [502, 503, 504]) {
      const asked: string[] = [];
      const front = createServer((request, response) => {
        asked.push(request.url ?? '');
        response.writeHead(status, { 'content-type': 'text/html' }).end('<title>Bad Gateway</title>');
      });
      await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
      const report = await doctor({ url: `http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp` });
      front.close();
      expect(report).toMatchObject({
        unreachable: `the web server answers ${status}: is the gate running?`,
        complete: false,
        findings: [],
      });
      expect(asked).toEqual(['/mcp', '/.well-known/oauth-protected-resource']);
    }
    for (const [args, says] of [
      [['ftp://x'], 'is not a web address'],
      [['https://me:secret@school.example'], 'without a name and password'],
      [[url, '--only', 'nonsense'], 'There is no check "nonsense"'],
      [[url, '--timeout', '-1'], '--timeout must be a number of seconds'],
    ] as const) {
      const wrong = runCommand(['doctor', ...args]);
      expect(await wrong.exited).toBe(64);
      expect(wrong.stderr()).toContain(says);
      expect(wrong.stderr()).toMatch(/\nTry: npx coursegate doctor --help\n$/);
      expect(wrong.stderr()).not.toContain('secret');
    }
  });
});
