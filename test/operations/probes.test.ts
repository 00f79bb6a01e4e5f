import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, startWorld, type World } from '../support/world.ts';

describe('the probes listener', () => {
  let world: World;
  let port: number;
  let probes: string;
  beforeAll(async () => {
    port = await freePort();
    probes = `http://127.0.0.1:${port}`;
    world = await startWorld({ profile: 'A', overrides: { listen: { probes: { host: '127.0.0.1', port } } } });
  });
  afterAll(() => world.close());

  it.each(['/livez', '/readyz'])('answers %s like the admin listener', async (path) => {
    const [there, here] = [await fetch(world.admin + path), await fetch(probes + path)];
    expect([here.status, await here.text()]).toEqual([200, await there.text()]);
  });

  it('serves the metrics to Prometheus', async () => {
    const response = await fetch(`${probes}/metrics`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/plain');
    expect(await response.text()).toContain('process_resident_memory_bytes');
  });

  it('answers HEAD without a body', async () => {
    const response = await fetch(`${probes}/readyz`, { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  it.each([
    ['POST', '/keys/rotate'],
    ['GET', '/keys/rotate'],
    ['POST', '/readyz'],
    ['GET', '/observed'],
    ['POST', '/members/1/revoke'],
    ['GET', '/members/1'],
    ['GET', '/'],
    ['GET', '/livez/../observed'],
    ['GET', '/%6divez'],
    ['GET', '/tls?domain=localhost'],
  ])('returns 404 for %s %s, whatever the admin listener serves there', async (method, path) => {
    const response = await fetch(probes + path, { method });
    expect([response.status, await response.text()]).toEqual([404, 'not found\n']);
  });

  it('rotates no key on a refused request', async () => {
    const keys = async () => (await (await fetch(`${world.origin}/.well-known/jwks.json`)).json()) as unknown;
    const before = await keys();
    await fetch(`${probes}/keys/rotate`, { method: 'POST' });
    expect(await keys()).toEqual(before);
  });

  it('ignores ?verbose, which is for operators', async () => {
    const plain = await (await fetch(`${probes}/readyz`)).text();
    expect(await (await fetch(`${probes}/readyz?verbose`)).text()).toBe(plain);
  });

  it('fails to start if its port is in use, and leaves no other listener open', async () => {
    const occupied = { listen: { probes: { port } } };
    await expect(startWorld({ profile: 'B', overrides: occupied })).rejects.toThrow(/EADDRINUSE/);
  });

  it('closes with the gate', async () => {
    const other = await freePort();
    const brief = await startWorld({ profile: 'A', overrides: { listen: { probes: { port: other } } } });
    expect((await fetch(`http://127.0.0.1:${other}/livez`)).status).toBe(200);
    await brief.close();
    await expect(fetch(`http://127.0.0.1:${other}/livez`)).rejects.toThrow();
  });
});
