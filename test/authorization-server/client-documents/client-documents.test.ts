import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FetchBudget, fetchBudget } from '../../../src/authorization-server/client-documents/budget.ts';
import {
  type ClientDocuments,
  createClientDocuments,
} from '../../../src/authorization-server/client-documents/client-documents.ts';
import type { ClientDocumentsOptions } from '../../../src/authorization-server/client-documents/document-fetches.ts';
import { DocumentFailure } from '../../../src/authorization-server/client-documents/failure.ts';
import { documentFetch } from '../../../src/authorization-server/client-documents/feature.ts';
import { createLog } from '../../../src/operations/log.ts';
import { memoryStore } from '../../../src/storage/memory/memory-store.ts';
import { sealedStore } from '../../../src/storage/seal.ts';
import type { Store } from '../../../src/storage/store.ts';
import { fromClient } from '../../support/client.ts';
import { answerJson, type DocumentHost, plainDocument, startDocumentHost } from './support/document-host.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const DEADLINE = 800;
const URL_ = 'https://apps.example/client.json';

describe('client documents', () => {
  let host: DocumentHost;
  let now: number;
  let store: Store;
  let documents: ClientDocuments;
  let budget: FetchBudget;

  const create = (options: Partial<ClientDocumentsOptions> = {}) =>
    createClientDocuments({
      ownHost: 'school.example',
      allow: [],
      deny: [],
      scope: 'openid',
      store,
      clock: () => now,
      log: createLog('silent', 2),
      network: host.network,
      budget,
      validate: () => undefined,
      deadline: DEADLINE,
      ...options,
    });
  const kindOf = (work: Promise<void>) =>
    work.then(
      () => 'found',
      (thrown: unknown) => (thrown instanceof DocumentFailure ? thrown.kind : `not a DocumentFailure: ${thrown}`),
    );
  const nameOf = async (from = documents) =>
    (JSON.parse(await from.metadata(URL_)) as { client_name: string }).client_name;
  const publish = (name: string, headers: Record<string, string> = {}) =>
    host.serve(URL_, answerJson(plainDocument(URL_, { client_name: name }), headers));
  const breakHost = () => host.serve(URL_, (_request, response) => response.writeHead(503).end());
  const fetches = () => host.requests.length;
  const eventually = async (check: () => boolean) => {
    for (let tries = 0; tries < 3000 && !check(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(check()).toBe(true);
  };

  beforeAll(async () => {
    host = await startDocumentHost();
  });
  afterAll(() => host.close());
  beforeEach(() => {
    now = Date.parse('2026-11-01T12:00:00Z');
    store = sealedStore(
      memoryStore(() => now),
      'a secret of the test, long enough',
    );
    budget = fetchBudget(() => now);
    documents = create();
    publish('First');
  });
  afterEach(() => {
    host.requests.length = 0;
    host.resolved.length = 0;
    host.names.clear();
  });

  it('are fetched once for a thousand uses, and once for a hundred concurrent ones', async () => {
    await Promise.all(Array.from({ length: 100 }, () => documents.current(URL_)));
    for (let use = 0; use < 1000; use += 1) await documents.current(URL_);
    await documents.approved(URL_);
    await documents.known(URL_);
    expect(fetches()).toBe(1);
  });

  it.each([
    ['max-age=1', 5 * MINUTE],
    ['max-age=600', 10 * MINUTE],
    ['public, max-age="900"', 15 * MINUTE],
    ['max-age=99999999', DAY],
    ['no-store', 5 * MINUTE],
    ['no-cache, max-age=86400', 5 * MINUTE],
    ['private', 5 * MINUTE],
    [undefined, 60 * MINUTE],
  ])('are cached as Cache-Control %s says, within limits', async (cacheControl, fresh) => {
    publish('First', cacheControl === undefined ? {} : { 'cache-control': cacheControl });
    await documents.current(URL_);
    publish('Second');
    now += fresh - 1;
    await documents.current(URL_);
    expect(await nameOf()).toBe('First');
    expect(fetches()).toBe(1);
    now += 1;
    await documents.current(URL_);
    expect(await nameOf()).toBe('Second');
    expect(fetches()).toBe(2);
  });

  it('are found by another replica and after a restart without a fetch', async () => {
    await documents.current(URL_);
    const other = create();
    await other.current(URL_);
    expect(await nameOf(other)).toBe('First');
    expect(fetches()).toBe(1);
  });

  it('are taken from another replica that has renewed them when they are stale', async () => {
    await documents.current(URL_);
    now += 61 * MINUTE;
    publish('Second');
    await create().current(URL_);
    expect(fetches()).toBe(2);
    await documents.current(URL_);
    expect(fetches()).toBe(2);
    expect(await nameOf()).toBe('Second');
  });

  it('are stored only for the time a member takes to decide, unless a token was issued', async () => {
    await documents.current(URL_);
    now += 31 * MINUTE;
    expect(await store.get('ClientDocument', URL_)).toBeUndefined();

    await documents.approved(URL_);
    now += DAY;
    publish('Second');
    await documents.current(URL_);
    expect(await nameOf()).toBe('Second');
    now += 29 * DAY;
    expect(await store.get('ClientDocument', URL_)).toBeDefined();
    now += 2 * DAY;
    expect(await store.get('ClientDocument', URL_)).toBeUndefined();
  });

  describe('while its host is down', () => {
    it('are used for 7 days after they went stale, also by new authorizations', async () => {
      await documents.current(URL_);
      await documents.approved(URL_);
      breakHost();
      now += 60 * MINUTE + 7 * DAY - MINUTE;
      for (const from of [documents, create()]) {
        expect(await kindOf(from.current(URL_))).toBe('found');
        expect(await kindOf(from.approved(URL_))).toBe('found');
        expect(await nameOf(from)).toBe('First');
      }
      now += 2 * MINUTE;
      expect(await kindOf(documents.current(URL_))).toBe('overdue');
      expect(await kindOf(documents.approved(URL_))).toBe('overdue');
      expect(await kindOf(documents.known(URL_))).toBe('found');
      now += MINUTE;
      publish('Back');
      expect(await kindOf(documents.approved(URL_))).toBe('found');
      expect(await nameOf()).toBe('Back');
    });

    it('are requested once a minute, however often they are used', async () => {
      await documents.current(URL_);
      breakHost();
      now += 61 * MINUTE;
      for (let use = 0; use < 100; use += 1) await documents.current(URL_);
      await Promise.all(Array.from({ length: 100 }, () => documents.approved(URL_)));
      expect(fetches()).toBe(2);
      now += 61 * SECOND;
      await documents.approved(URL_);
      await eventually(() => fetches() === 3);
    });

    it('make no token request wait', async () => {
      const patient = create({ deadline: 30_000 });
      await patient.current(URL_);
      now += 61 * MINUTE;
      host.serve(URL_, () => undefined);
      const began = performance.now();
      await patient.approved(URL_);
      await patient.known(URL_);
      expect(performance.now() - began).toBeLessThan(15_000);
    });
  });

  it.each([
    ['gone', 'gone', () => host.serve(URL_, (_request, response) => response.writeHead(404).end())],
    ['another client', 'unusable', () => host.serve(URL_, answerJson(plainDocument('https://apps.example/x')))],
    [
      'private_key_jwt',
      'refused',
      () => host.serve(URL_, answerJson(plainDocument(URL_, { token_endpoint_auth_method: 'private_key_jwt' }))),
    ],
  ])(
    'that have become %s are refused for new authorizations, and kept for existing ones',
    async (_what, kind, change) => {
      await documents.current(URL_);
      await documents.approved(URL_);
      change();
      now += 61 * MINUTE;
      expect(await kindOf(documents.current(URL_))).toBe(kind);
      expect(await kindOf(documents.approved(URL_))).toBe('found');
      expect(await nameOf()).toBe('First');
    },
  );

  it('are checked by the rules of registration, and refused with the reason', async () => {
    const strict = create({
      validate: () => {
        throw Object.assign(new Error('invalid_redirect_uri'), { error_description: 'redirect_uris must be nicer' });
      },
    });
    await expect(strict.current(URL_)).rejects.toMatchObject({
      kind: 'refused',
      message: 'redirect_uris must be nicer',
    });
    expect(await store.get('ClientDocument', URL_)).toBeUndefined();
  });

  it('are the only thing that oidc-provider can fetch', async () => {
    await documents.current(URL_);
    const body = await (await documentFetch(documents)(URL_)).json();
    expect(body).toMatchObject({ client_id: URL_, token_endpoint_auth_method: 'none' });
    for (const url of ['https://apps.example/jwks', 'https://10.0.0.1/sector', 'http://localhost/']) {
      await expect(documentFetch(documents)(url)).rejects.toThrow(DocumentFailure);
      await expect(documentFetch(undefined)(url)).rejects.toThrow(DocumentFailure);
    }
    expect(fetches()).toBe(1);
  });

  it('that could not be fetched are not requested again for a minute', async () => {
    breakHost();
    expect(await kindOf(documents.current(URL_))).toBe('unavailable');
    publish('First');
    for (let use = 0; use < 100; use += 1) expect(await kindOf(documents.current(URL_))).toBe('unavailable');
    expect(fetches()).toBe(1);
    now += 59 * SECOND;
    expect(await kindOf(documents.current(URL_))).toBe('unavailable');
    now += SECOND;
    expect(await kindOf(documents.current(URL_))).toBe('found');
  });

  it('take the same time for every failure of an unknown host', async () => {
    host.names.set('private.apps.example', () => ['10.0.0.1']);
    host.names.set('refused.apps.example', () => ['127.0.0.1']);
    host.serve('https://one.example/client.json', (_request, response) => response.writeHead(404).end());
    host.serve('https://two.example/client.json', () => undefined);
    host.serve('https://three.example/client.json', answerJson({}));
    const took = await Promise.all(
      ['private.apps', 'one', 'two', 'three'].map(async (name) => {
        const began = performance.now();
        await expect(documents.current(`https://${name}.example/client.json`)).rejects.toThrow();
        return performance.now() - began;
      }),
    );
    expect(Math.min(...took)).toBeGreaterThan(DEADLINE - 20);
    // All wait at the same time, so a machine that stalls delays them all.
    expect(Math.max(...took) - Math.min(...took)).toBeLessThan(DEADLINE / 2);
  });

  it.each([
    ['no URL for a document', 'https://apps.example/', {}],
    ['ourselves', 'https://school.example/client.json', {}],
    ['denied', URL_, { deny: ['apps.example'] }],
    ['not allowed', URL_, { allow: ['claude.ai', '*.apps.example'] }],
  ])('cause no DNS lookup for a URL that is %s', async (_what, url, options) => {
    const strict = create(options);
    expect(await kindOf(strict.current(url))).toBe('forbidden');
    expect(await kindOf(strict.approved(url))).toBe('forbidden');
    expect(await kindOf(strict.known(url))).toBe('forbidden');
    expect(host.resolved).toEqual([]);
  });

  it('of a client that is denied later yield no more tokens', async () => {
    await documents.approved(URL_);
    const strict = create({ deny: ['apps.example'] });
    expect(await kindOf(strict.approved(URL_))).toBe('forbidden');
    expect(await kindOf(strict.current(URL_))).toBe('forbidden');
    expect(await kindOf(strict.known(URL_))).toBe('found');
  });

  describe('within the fetch budget', () => {
    const ask = (address: string, urls: readonly string[], of = documents) =>
      Promise.all(urls.map((url) => fromClient(address, () => kindOf(of.current(url)))));
    const urls = (count: number, name = 'n') =>
      Array.from({ length: count }, (_, at) => `https://${name}${at}.apps.example/client.json`);
    const count = (kinds: readonly string[], kind: string) => kinds.filter((one) => one === kind).length;

    it('are available to a client when another one has used up its share', async () => {
      const url = 'https://two.example/client.json';
      host.serve(url, answerJson(plainDocument(url)));
      await ask('203.0.113.1', urls(10));
      const [exhausted, other] = await Promise.all([ask('203.0.113.1', [url]), ask('198.51.100.1', [url])]);
      expect(other).toEqual(['found']);
      // It waited for its turn and found the document in the cache.
      expect(exhausted).toEqual(['found']);
      expect(host.requests.filter((request) => request.url === url)).toHaveLength(1);
    });

    it('need no budget when they are cached', async () => {
      await ask('203.0.113.1', [URL_]);
      expect(count(await ask('203.0.113.1', urls(30)), 'busy')).toBe(21);
      for (let use = 0; use < 300; use += 1) expect(await ask('203.0.113.1', [URL_])).toEqual(['found']);
    });

    it('are still usable when there is no budget to renew them', async () => {
      const patient = create({ deadline: 30_000 });
      await patient.current(URL_);
      now += 61 * MINUTE;
      await ask('', urls(20));
      const began = performance.now();
      expect(await kindOf(patient.current(URL_))).toBe('found');
      expect(performance.now() - began, 'it waited for a turn').toBeLessThan(15_000);
    });
  });
});
