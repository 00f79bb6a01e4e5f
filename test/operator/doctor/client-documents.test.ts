import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DocumentNetwork } from '../../../src/authorization-server/client-documents/network.ts';
import { examineBackend } from '../../../src/operator/doctor/backend/backend-doctor.ts';
import {
  answerJson,
  type DocumentHost,
  plainDocument,
  startDocumentHost,
} from '../../authorization-server/client-documents/support/document-host.ts';
import { load } from '../../config/fixture.ts';
import { timeOf } from '../../support/pace.ts';

const CLAUDE = 'https://claude.ai/oauth/claude-code-client-metadata';
const CODEX = 'https://chatgpt.com/oauth/codex/client.json';
/** No gate runs: this check needs none. */
const STOPPED = {
  address: 'http://127.0.0.1:1',
  ask: () => Promise.reject(new Error('no gate')),
  command: () => Promise.reject(new Error('no gate')),
};

describe('whether the gate can fetch metadata documents of apps', () => {
  let host: DocumentHost;
  beforeAll(async () => {
    host = await startDocumentHost();
  });
  afterAll(() => host.close());
  beforeEach(() => {
    host.requests.splice(0);
    host.names.clear();
    host.serve(CLAUDE, answerJson(plainDocument(CLAUDE)));
    host.serve(CODEX, answerJson(plainDocument(CODEX)));
  });

  const examine = async (
    network: Partial<DocumentNetwork> = {},
    documents: Readonly<Record<string, unknown>> = {},
    timeout = 60,
  ) => {
    const text = JSON.stringify({
      version: 1,
      profile: 'B',
      origin: 'http://localhost:9',
      store: { kind: 'memory' },
      login: {
        kind: 'session',
        upstream: 'school',
        loginUrl: 'http://localhost:9/login',
        whoami: { path: '/me', subject: '/id' },
        cookies: ['s'],
      },
      upstreams: { school: { url: 'http://127.0.0.1:1' } },
      clients: { documents },
    });
    return examineBackend({
      loaded: await load(text),
      admin: STOPPED,
      only: ['gate.client-documents'],
      network: { ...host.network, ...network },
      timeout,
    });
  };
  const found = async (...how: Parameters<typeof examine>) => {
    const { findings } = await examine(...how);
    return findings.map(({ level, seen }) => `${level}: ${seen}`);
  };
  const failing = (code: string, syscall?: string) => Object.assign(new Error(`failed ${code}`), { code, syscall });

  it('passes with the first document that arrives, and asks for no other', async () => {
    expect(await found()).toEqual(['pass: claude.ai answered']);
    expect(host.requests.map(({ url }) => url)).toEqual([CLAUDE]);
    expect(host.requests[0]?.headers['user-agent']).toBe('coursegate');
  });

  it('passes if one of the hosts can be reached, whatever its document says', async () => {
    host.names.set('claude.ai', () => {
      throw failing('ENOTFOUND', 'queryA');
    });
    host.serve(CODEX, answerJson(['not', 'client', 'metadata']));
    expect(await found()).toEqual(['pass: chatgpt.com answered']);
    host.serve(CODEX, (_request, response) => response.writeHead(404).end());
    expect(await found()).toEqual([
      'pass: connections are possible (claude.ai: the host name is unknown; chatgpt.com: it was answered with status 404)',
    ]);
  });

  it.each<[string, Partial<DocumentNetwork>, string]>([
    [
      'resolves no names',
      { resolve: () => Promise.reject(failing('ETIMEOUT', 'queryA')) },
      'the host name could not be resolved (ETIMEOUT)',
    ],
    [
      'has no name server',
      { resolve: () => Promise.reject(failing('ECONNREFUSED', 'queryA')) },
      'the host name could not be resolved (ECONNREFUSED)',
    ],
    ['refuses connections', { port: 1 }, 'nothing is listening there'],
    ['intercepts TLS', { trusted: undefined }, 'the certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)'],
  ])('warns if the network %s, and names hosts and error', async (_what, network, why) => {
    const { findings } = await examine(network);
    expect(findings).toMatchObject([
      {
        level: 'warning',
        seen: `claude.ai: ${why}; chatgpt.com: ${why}`,
        fix: expect.stringMatching(/^Most likely your network blocks outbound connections .*proxy.*port 443/),
      },
    ]);
  });

  it('warns if a name server answers with an address in the network', async () => {
    for (const name of ['claude.ai', 'chatgpt.com']) host.names.set(name, () => ['10.0.0.1']);
    expect(await found()).toEqual([
      'warning: claude.ai: claude.ai resolves to 10.0.0.1, which is not public; chatgpt.com: chatgpt.com resolves to 10.0.0.1, which is not public',
    ]);
  });

  it('warns if nothing answers, within the time for the audit', async () => {
    for (const url of [CLAUDE, CODEX]) host.serve(url, () => undefined);
    const began = performance.now();
    expect(await found()).toEqual([
      'warning: claude.ai: the server did not answer in time; chatgpt.com: the server did not answer in time',
    ]);
    expect(performance.now() - began).toBeLessThan(20_000);
    const hasty = async () =>
      expect(await examine({}, {}, 0.5)).toMatchObject({ complete: false, findings: [{ level: 'skipped' }] });
    expect(await timeOf(hasty)).toBeLessThan(2400);
  });

  it('says it apart if something answers in place of the documents', async () => {
    for (const url of [CLAUDE, CODEX])
      host.serve(url, (_request, response) =>
        response.writeHead(403, { 'content-type': 'text/html' }).end('<h1>Blocked</h1>'),
      );
    const { findings } = await examine();
    expect(findings).toMatchObject([
      {
        level: 'warning',
        seen: 'claude.ai: it was answered with status 403 instead of 200; chatgpt.com: it was answered with status 403 instead of 200',
        fix: expect.stringMatching(/^A connection is possible, but no document came/),
      },
    ]);
  });

  it('connects to nothing that the configuration does not admit', async () => {
    const before = host.connections();
    expect(await found({}, { enabled: false })).toEqual([]);
    expect(await found({}, { allow: ['apps.example'] })).toEqual([
      'skipped: clients.documents does not admit the documents that are tried',
    ]);
    expect(host.connections()).toBe(before);
    expect(await found({}, { deny: ['claude.ai'] })).toEqual(['pass: chatgpt.com answered']);
  });
});
