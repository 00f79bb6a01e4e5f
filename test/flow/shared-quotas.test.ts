import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  answerJson,
  type DocumentHost,
  plainDocument,
  startDocumentHost,
} from '../authorization-server/client-documents/support/document-host.ts';
import { type App, authorizationRequest, registerApp } from '../support/app.ts';
import { startWorld, type World } from '../support/world.ts';

const OTHERS = 300;
/** How many requests one address keeps open while the others send theirs. */
const HAMMERS = 30;

/** Before the shares per address, 281 of 300 clients got 503 while one address used up the shared quota. */
describe('quotas that all clients share', () => {
  let host: DocumentHost;
  let world: World;
  let app: App;
  let ahead = 0;

  beforeAll(async () => {
    host = await startDocumentHost();
    host.otherwise((asked, response) =>
      answerJson(plainDocument(`https://${asked.headers.host}${asked.url}`))(asked, response),
    );
    world = await startWorld({
      profile: 'A',
      clock: () => Date.now() + ahead,
      documentNetwork: host.network,
      overrides: { listen: { trustedProxies: ['loopback'] } },
    });
    app = await registerApp(world.origin);
  });
  afterAll(async () => {
    await world.close();
    await host.close();
  });

  /** Sends a request as a client at `address` behind the operator's proxy and returns the status. */
  const ask = (address: string, url: string, body?: unknown): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = {
        'x-forwarded-for': address,
        accept: 'text/html',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const asked = request(url, { method: body === undefined ? 'GET' : 'POST', headers, agent: false }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      });
      asked.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  const authorize = async (address: string, clientId: string): Promise<number> => {
    const of: App = { ...app, client: { client_id: clientId }, redirectUri: `${new URL(clientId).origin}/callback` };
    return ask(address, (await authorizationRequest(of)).url);
  };
  const register = (address: string): Promise<number> =>
    ask(address, `${world.origin}/api/oauth/register`, { redirect_uris: ['https://app.example/callback'] });

  /** Keeps sending requests from one address until the work is done. Returns how often it got each status. */
  const whileHammering = async (hammer: (at: number) => Promise<number>, work: () => Promise<void>) => {
    const counts = new Map<number, number>();
    let over = false;
    let at = 0;
    const hammering = Array.from({ length: HAMMERS }, async () => {
      while (!over) {
        at += 1;
        const status = await hammer(at);
        counts.set(status, (counts.get(status) ?? 0) + 1);
      }
    });
    // The first refusal means that this address has used up its share.
    while (!counts.has(503) && !counts.has(429)) await new Promise(setImmediate);
    await work().finally(() => {
      over = true;
    });
    await Promise.all(hammering);
    return counts;
  };

  it('let 300 clients with separate apps sign in while one address requests new metadata documents', async () => {
    const statuses: number[] = [];
    const counts = await whileHammering(
      (at) => authorize('203.0.113.66', `https://evil${at}.two.example/${at}.json`),
      async () => {
        await Promise.all(
          Array.from({ length: 10 }, async (_, lane) => {
            for (let at = lane; at < OTHERS; at += 10) {
              const address = at % 2 === 0 ? `198.18.${at >> 1}.7` : `2001:db8:${at.toString(16)}::7`;
              statuses.push(await authorize(address, `https://app${at}.one.example/client.json`));
            }
          }),
        );
      },
    );
    expect(statuses.filter((status) => status === 303)).toHaveLength(OTHERS);
    expect(counts.get(503)).toBeGreaterThan(0);
  });

  it('are not consumed by an app whose document is cached', async () => {
    const known = 'https://known.three.example/client.json';
    expect(await authorize('192.0.2.1', known)).toBe(303);
    const statuses: number[] = [];
    await whileHammering(
      (at) => authorize('203.0.113.67', `https://evil${at}.four.example/${at}.json`),
      async () => {
        for (let at = 0; at < 30; at += 1) statuses.push(await authorize('203.0.113.67', known));
      },
    );
    expect(new Set(statuses)).toEqual(new Set([303]));
    expect(host.requests.filter(({ url }) => url === known)).toHaveLength(1);
  });

  it('let 300 clients register while one address registers without a pause', async () => {
    await world.restart({
      listen: { trustedProxies: ['loopback'] },
      clients: { registration: { perAddressPerMinute: 50, perDay: 1000 } },
    });
    let refusals = 0;
    // Far more than the daily total of a thousand, one minute's worth at a time.
    for (let minute = 0; minute < 30; minute += 1) {
      const statuses = await Promise.all(Array.from({ length: 50 }, () => register('203.0.113.66')));
      refusals += statuses.filter((status) => status === 429).length;
      ahead += 60_000;
    }
    expect(refusals).toBe(30 * 50 - 48);
    const others = [];
    for (let at = 0; at < OTHERS; at += 1) others.push(await register(`198.${18 + (at >> 8)}.${at % 256}.7`));
    expect(others.filter((status) => status === 201)).toHaveLength(OTHERS);
  });
});
