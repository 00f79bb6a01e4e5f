import { createServer as createPlainServer, type RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKS } from '../../../src/operator/doctor/checks/checks.ts';
import { type DoctorOptions, doctor } from '../../../src/operator/doctor/doctor.ts';
import { type Authority, createAuthority } from '../../support/certificates.ts';

const closing: (() => Promise<unknown>)[] = [];
let authority: Authority;
beforeAll(() => {
  authority = createAuthority();
});
afterAll(async () => {
  for (const close of closing) await close();
  authority.close();
});

async function listen(server: Server & { closeAllConnections(): void }): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  return (server.address() as AddressInfo).port;
}

const secure = async (listener: RequestListener, host = 'localhost', days = 30) => {
  const { cert, key } = authority.issue(host, days);
  return `https://localhost:${await listen(createServer({ cert, key }, listener))}`;
};
const plain = async (listener: RequestListener) => `http://localhost:${await listen(createPlainServer(listener))}`;

async function findings(options: DoctorOptions) {
  const report = await doctor({ ca: authority.ca, only: ['reach'], ...options });
  return Object.fromEntries(report.findings.map(({ check, level, seen }) => [check, `${level}: ${seen}`]));
}

describe('a site on https', () => {
  it('passes with HSTS and a redirect from plain http', async () => {
    const url = await secure((_request, response) => {
      response.writeHead(200, { 'strict-transport-security': 'max-age=31536000' }).end('hello');
    });
    const plainOrigin = await plain((_request, response) => response.writeHead(301, { location: url }).end());
    expect(await findings({ url, plainOrigin })).toMatchObject({
      'reach.https': `pass: ${url}`,
      'reach.hsts': 'pass: max-age=31536000',
      'reach.http-redirect': `pass: 301 to ${url}`,
    });
  });

  it('gets warnings without HSTS, and if plain http serves the site', async () => {
    const url = await secure((_request, response) => response.end('hello'));
    const plainOrigin = await plain((_request, response) => response.end('hello'));
    expect(await findings({ url, plainOrigin })).toMatchObject({
      'reach.hsts': 'warning: no Strict-Transport-Security',
      'reach.http-redirect': `warning: ${plainOrigin}/ answers 200 without a redirect`,
    });
  });

  it('gets a warning if plain http redirects to another site, and passes if plain http is refused', async () => {
    const url = await secure((_request, response) => response.end('hello'));
    const away = await plain((_request, response) =>
      response.writeHead(301, { location: 'https://other.example/' }).end(),
    );
    expect(await findings({ url, plainOrigin: away })).toMatchObject({
      'reach.http-redirect': `warning: ${away}/ redirects to https://other.example`,
    });
    const refusing = await plain((_request, response) => response.writeHead(403).end());
    expect(await findings({ url, plainOrigin: refusing })).toMatchObject({
      'reach.http-redirect': 'pass: plain http gets 403',
    });
  });

  it('gets a warning if its certificate expires soon', async () => {
    const soon = await secure((_request, response) => response.end('hello'), 'localhost', 5);
    expect((await findings({ url: soon }))['reach.certificate']).toMatch(/^warning: it expires in [45] days$/);
    const later = await secure((_request, response) => response.end('hello'));
    expect((await findings({ url: later }))['reach.certificate']).toMatch(/^pass: valid for (29|30) more days$/);
  });

  it('is asked with forged host names too, for which it has no certificate', async () => {
    const url = await secure((request, response) => {
      if (request.url !== '/.well-known/oauth-authorization-server') return response.writeHead(404).end();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ issuer: url }));
    });
    expect((await findings({ url }))['reach.forwarded-host']).toMatch(/^pass: Host, Forwarded and X-Forwarded-Host/);
  });

  it('is unreachable if its certificate has another name or is not trusted', async () => {
    const url = await secure((_request, response) => response.end('hello'), 'other.example');
    expect((await doctor({ url, ca: authority.ca })).unreachable).toContain('the certificate is not trusted');
    const unknown = await secure((_request, response) => response.end('hello'));
    expect((await doctor({ url: unknown })).unreachable).toContain('the certificate is not trusted');
  });
});

describe('a site on plain http', () => {
  it('fails unless it is on this machine', async () => {
    const check = CHECKS.find(({ id }) => id === 'reach.https');
    const asked = async (origin: string) => check?.run({ origin } as never);
    await expect(asked('http://school.example')).resolves.toMatchObject({ level: 'failure' });
    await expect(asked('https://school.example')).resolves.toMatchObject({ level: 'pass' });
    await expect(asked('http://localhost:8080')).resolves.toMatchObject({ level: 'pass' });
  });
});
