import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startWorld, type World } from '../support/world.ts';

describe('shutting down', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
  });
  afterAll(() => world.close());

  it('ends the WebSockets of the site instead of waiting for them forever', async () => {
    const socket = new WebSocket(`${world.origin.replace('http', 'ws')}/ws/echo`);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await world.restart();
    await closed;
    expect((await fetch(`${world.origin}/.well-known/oauth-authorization-server`)).status).toBe(200);
  });

  it('reports readiness on the admin listener only', async () => {
    expect(await (await fetch(`${world.admin}/readyz`)).text()).toBe('ok\n');
    expect((await fetch(`${world.origin}/readyz`)).status).toBe(404);
  });
});
