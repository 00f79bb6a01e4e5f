import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { connectWith } from '../support/cookie-school.ts';
import { SAM } from '../support/member.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

const KEY = 'one-key-for-all-members';

describe('one key for all members', () => {
  let backend: RecordingUpstream;
  let world: World;
  let token: string;
  beforeAll(async () => {
    backend = await startRecordingUpstream();
    const key = (credential: object) => ({
      url: backend.url,
      credential: { kind: 'key', secret: { env: 'SERVICE_KEY' }, ...credential },
    });
    world = await startWorld({
      profile: 'A',
      environment: { SERVICE_KEY: KEY },
      overrides: {
        upstreams: {
          api: key({ header: 'X-API-Key' }),
          basic: key({ header: 'Authorization', scheme: 'Basic' }),
          moodle: key({ query: 'wstoken' }),
        },
        routes: [
          { match: 'GET /api/key/{member.id}/orders', upstream: 'api', anonymous: 'refuse' },
          { match: 'GET /api/key/catalogue', upstream: 'api', anonymous: 'serve' },
          { match: 'GET /api/basic/{member.id}', upstream: 'basic', anonymous: 'refuse' },
          { match: 'GET /api/moodle', upstream: 'moodle', anonymous: 'refuse', query: { userid: '{member.id}' } },
        ],
        site: { upstream: 'api' },
        login: { loginUrl: 'https://elsewhere.example/login' },
      },
    });
    token = await connectedAsSam(world);
  });
  afterAll(async () => {
    await world.close();
    await backend.close();
  });

  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(world.origin + path, { headers: { ...bearer(token), ...headers } });

  it('is sent with requests restricted to the member, and with public ones', async () => {
    expect((await ask('/api/key/m-1001/orders')).status).toBe(200);
    expect(backend.last().values('x-api-key')).toEqual([KEY]);
    expect((await fetch(`${world.origin}/api/key/catalogue`)).status).toBe(200);
    expect(backend.last().values('x-api-key')).toEqual([KEY]);
    expect(backend.last().values('x-member-id')).toEqual([]);
    expect((await ask('/api/basic/m-1001')).status).toBe(200);
    expect(backend.last().values('authorization')).toEqual([`Basic ${KEY}`]);
  });

  it('is not sent for another member’s data, or without a token', async () => {
    const before = backend.requests.length;
    expect((await ask('/api/key/m-1002/orders')).status).toBe(403);
    expect((await fetch(`${world.origin}/api/key/m-1001/orders`)).status).toBe(401);
    expect(backend.requests.length).toBe(before);
  });

  it('is one parameter of the query, and replaces any that an app sends under that name', async () => {
    const answer = await ask('/api/moodle?wstoken=mine&WSTOKEN=mine&ws%74oken[]=mine&userid=7&x=1');
    expect(answer.status).toBe(200);
    expect(backend.last().target).toBe(`/api/moodle?userid=m-1001&x=1&wstoken=${KEY}`);
  });

  it.each(['x-api-key', 'X-Api_Key', 'X.API.Key', 'x-api-KEY'])('cannot be set by a client, as %s', async (name) => {
    await ask('/api/key/m-1001/orders', { [name]: 'forged' });
    expect(backend.last().rawHeaders.join('\n')).not.toContain('forged');
    expect(backend.last().values('x-api-key')).toEqual([KEY]);
    await fetch(`${world.origin}/a-page`, { headers: { [name]: 'forged' } });
    expect(backend.last().target).toBe('/a-page');
    expect(backend.last().rawHeaders.join('\n')).not.toContain('forged');
  });

  it('is never sent to pages of the site', async () => {
    await fetch(`${world.origin}/a-page`, { headers: bearer(token) });
    expect(backend.last().target).toBe('/a-page');
    expect(backend.last().rawHeaders.join('\n')).not.toContain(KEY);
  });
});

/** Signs Sam in at the school itself, whose pages are not behind this gate, and connects an app. */
async function connectedAsSam({ origin, school }: World): Promise<string> {
  const browser = createBrowser();
  await browser.submit(await browser.open(`${school.urls.school}/login`), { ...SAM });
  const session = browser.cookies.get('school_session')?.value ?? '';
  return (await connectWith(origin, { school_session: session })).token;
}
