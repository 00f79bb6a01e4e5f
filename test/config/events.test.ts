import { describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from './fixture.ts';

const KEY = Buffer.alloc(32, 7);
const SECRET = `whsec_${KEY.toString('base64')}`;
const settings = (more = '') => `${SMALL}events: { upstream: school, path: /hook, secret: { env: NEW }${more} }\n`;

describe('events to the backend', () => {
  it('are off by default', async () => {
    const { config, eventKeys } = await load(SMALL);
    expect([config.events, eventKeys]).toEqual([undefined, []]);
  });

  it('are kept for three days, and signed with secrets that are never printed', async () => {
    const environment = { NEW: SECRET, OLD: Buffer.alloc(24, 9).toString('base64') };
    const { config, eventKeys } = await load(settings(', previous: { env: OLD }'), { environment });
    expect(eventKeys).toEqual([KEY, Buffer.alloc(24, 9)]);
    expect(config.events).toMatchObject({ maxAge: 259_200, maxPending: 10_000 });
    expect(JSON.stringify(config)).not.toContain(SECRET.slice(6, 20));
  });

  it.each([
    [settings(), {}, 'events.secret: environment variable NEW is not set'],
    [
      settings(),
      { NEW: Buffer.alloc(23).toString('base64') },
      'events.secret: environment variable NEW must be whsec_ followed by 24',
    ],
    [
      settings(),
      { NEW: `whsec_${Buffer.alloc(65).toString('base64')}` },
      'events.secret: environment variable NEW must be whsec_ followed by 24',
    ],
    [
      settings(),
      { NEW: `${SECRET} with more` },
      'events.secret: environment variable NEW must be whsec_ followed by 24',
    ],
    [
      settings().replace('upstream: school, path', 'upstream: scool, path'),
      { NEW: SECRET },
      'events.upstream: there is no upstream "scool"',
    ],
    [
      settings().replace('/hook', 'https://evil.example/'),
      { NEW: SECRET },
      'events.path: must be a path such as /coursegate/events',
    ],
  ])('are refused at their position in the file', async (text, environment, message) => {
    expect(await mistakes(text, { environment })).toEqual([expect.stringContaining(message)]);
  });
});
