import { describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from './fixture.ts';

const OURSELVES = (key: string) =>
  `gate.yaml:12:18  upstreams.school.url: is this gate itself (${key}): name the service behind it`;

describe('an upstream that is the gate itself', () => {
  it.each([
    ['http://127.0.0.1:8080', '', 'listen.port'],
    ['http://localhost:8080', '', 'listen.port'],
    ['http://school.localhost:8080/shop', '', 'listen.port'],
    ['http://0.0.0.0:8080', '', 'listen.port'],
    ['http://localhost', 'listen: { port: 80 }\n', 'listen.port'],
    ['http://127.0.0.1:8080', 'listen: { host: 0.0.0.0 }\n', 'listen.port'],
    ['http://[::1]:8080', 'listen: { host: "::" }\n', 'listen.port'],
    ['http://10.1.2.3:8080', 'listen: { host: 10.1.2.3 }\n', 'listen.port'],
    ['http://127.0.0.1:9090', '', 'listen.admin.port'],
    ['http://localhost:9091', 'listen: { probes: { host: 0.0.0.0 } }\n', 'listen.probes.port'],
  ])('is refused at %s with %j', async (url, more, key) => {
    expect(await mistakes(SMALL.replace('http://127.0.0.1:4000', `"${url}"`) + more)).toEqual([OURSELVES(key)]);
  });

  it('is refused where it serves the site at the public origin, from where each request would come back', async () => {
    const text = SMALL.replace('http://127.0.0.1:4000', 'https://school.example');
    const message =
      'is `origin`, from where each request would come back to this gate: name the address of the site behind it';
    expect(await mistakes(text)).toEqual([`gate.yaml:12:18  upstreams.school.url: ${message}`]);
    expect(await mistakes(text.replace('example }', 'example:443/ }'))).toEqual([expect.stringContaining(message)]);
  });

  it.each([
    ['http://127.0.0.1:8080', 'listen: { port: 8090 }\n'],
    ['http://127.0.0.1:8080', 'listen: { host: 10.1.2.3 }\n'],
    ['http://127.0.0.1:9091', ''],
    ['http://site:8080', 'listen: { host: 0.0.0.0 }\n'],
    // A web server in front may send this path elsewhere.
    ['https://school.example/site', ''],
  ])('is not seen in %s with %j', async (url, more) => {
    expect(await load(SMALL.replace('http://127.0.0.1:4000', url) + more)).toBeDefined();
  });

  it('is not seen in another upstream at the origin, which a web server in front may send elsewhere', async () => {
    const text = SMALL.replace('site:', '  shop: { url: https://school.example }\nsite:');
    expect(await load(text)).toBeDefined();
  });
});
