import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { doctor } from '../../../src/operator/doctor/doctor.ts';
import { runToEnd } from '../../support/operator.ts';

const servers: Server[] = [];
async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
afterAll(() => {
  for (const server of servers) server.close();
});

const page: RequestListener = (_request, response) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Harbour School</title><p>Welcome');

describe('coursegate doctor, for an address that is no gate,', () => {
  it('says in three lines what answers, and how to begin', async () => {
    const origin = await serve(page);
    const { code, stdout, stderr } = await runToEnd(['doctor', origin]);
    expect(code).toBe(2);
    expect(stdout.replace(/\n {2}(?=\S)/g, ' ')).toBe(
      `✗ ${origin} is no gate: /.well-known/oauth-protected-resource: a page "Harbour School" (200) instead of JSON` +
        ' Is one meant to be there? Route /.well-known/oauth-* and /.well-known/openid-configuration to the gate, before the application or its fallback page.\n',
    );
    expect(stderr).toBe(
      `Checking ${origin} without registering an app …\nTry: npx coursegate init --upstream ${origin}\n`,
    );
  });

  it('says so to programs, too', async () => {
    const origin = await serve((_request, response) => response.writeHead(404).end());
    const { code, stdout, stderr } = await runToEnd(['doctor', origin, '--json']);
    expect([code, stderr]).toEqual([2, '']);
    expect(JSON.parse(stdout)).toMatchObject({
      reached: true,
      complete: false,
      nothing: { seen: '/.well-known/oauth-protected-resource: 404' },
      summary: { passed: 0, skipped: 0, warnings: 0, failures: 0 },
      findings: [],
    });
  });

  it('names the site that it redirects to', async () => {
    const other = await serve(page);
    const origin = await serve(({ url }, response) => response.writeHead(301, { location: `${other}${url}` }).end());
    const { code, stdout, stderr } = await runToEnd(['doctor', `${origin}/mcp`]);
    expect([code, stdout]).toEqual([2, `✗ ${origin}/mcp is no gate: it redirects to ${other}\n`]);
    expect(stderr).toContain(`\nTry: npx coursegate doctor ${other}/mcp\n`);
  });

  it('says that a name does not exist', async () => {
    const { code, stdout } = await runToEnd(['doctor', 'https://school.invalid']);
    expect(code).toBe(2);
    expect(stdout).toMatch(
      /^✗ https:\/\/school\.invalid cannot be reached: the host name (is unknown|could not be resolved)\.\n/,
    );
  });
});

describe('the doctor examines all the same', () => {
  it.each<[what: string, answer: RequestListener]>([
    [
      'a server of another product with its own metadata',
      ({ url, headers }, response) =>
        url === '/.well-known/openid-configuration'
          ? response
              .writeHead(200, { 'content-type': 'application/json' })
              .end(JSON.stringify({ issuer: `http://${headers.host}` }))
          : response.writeHead(404).end(),
    ],
    [
      'an address that asks for a token',
      ({ url }, response) =>
        url === '/mcp'
          ? response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
          : response.writeHead(404).end(),
    ],
    [
      'a site behind a bot check',
      (_request, response) => response.writeHead(403, { 'cf-mitigated': 'challenge' }).end(),
    ],
  ])(
    '%s',
    async (_what, answer) => {
      const report = await doctor({ url: await serve(answer), patience: 2000 });
      expect(report.nothing).toBeUndefined();
      expect(report.findings.length).toBeGreaterThan(20);
    },
    180_000,
  );

  it('a site whose gate is known from its configuration', async () => {
    const report = await doctor({ url: await serve(page), insist: true, patience: 2000 });
    expect(report.nothing).toBeUndefined();
    expect(report.findings.length).toBeGreaterThan(20);
  });
});
