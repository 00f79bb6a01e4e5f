import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RESERVED, SPELLINGS } from '../attack/families/forged-headers.ts';
import { send } from './support/ask.ts';
import { asRead, flawsOf } from './support/backend-view.ts';
import type { RunningGateway } from './support/gateway-kind.ts';
import { describeKinds, KINDS } from './support/kinds.ts';
import { type PluginWorld, startPluginWorld } from './support/plugin-world.ts';

/** Another one tries other requests. */
const SEED = Number(process.env.COURSEGATE_FUZZ_SEED ?? 34);
const REQUESTS = 800;
const AT_ONCE = 16;

const PLACES = [
  ...['/member/', '/member', '/through/', '/public/', '/pages/', '/pages', '/', '/.coursegate/'],
  ...['/pages/../', '/public/../', '/pages/x/..', '//', '/member/..', '/;', 'http://HOST/'],
];
/** What servers read differently, around names of routes. */
const PIECES = [
  ...['/', '/', '/', 'member', 'member', 'x', '..', '.', '%2e%2e', '%2E', '.%2e', '%2f', '%2F', '%5c', '\\'],
  ...[';', ';a=b', '%3b', '%25', '%252e', '%252f', '%256d', '%', '%zz', '%00', '%09', '%0a', '%20', '%7f', '#', '?'],
  ...['MEMBER', 'Member', '%6dember', '%4dember', 'm%65mber', 'reading', 'through', 'pages', 'public', 'me', 'mber'],
  ...['%c0%ae', '%c0%af', '%c1%ad', '%e0%80%ae', '%ef%bc%8f', '%ef%bc%8e', '%ef%bd%8d', '%ef%bc%b0', '%e2%80%8b'],
  ...['%c2%ad', '%c3%a9', '%ff', '\xef\xbc\x8f', '\xc0\xaf', '\xe9', '~', '*', ':', '@', '|', '"', '{', '.coursegate'],
];

const field = fc
  .tuple(fc.constantFrom(...RESERVED.slice(0, 6)), fc.constantFrom(...SPELLINGS))
  .map(([name, [, spell]]) => `${spell(name)}: evil`);
const request = fc.record({
  method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE'),
  place: fc.constantFrom(...PLACES),
  pieces: fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }),
  fields: fc.array(field, { maxLength: 2 }),
});

let world: PluginWorld;
beforeAll(async () => {
  world = await startPluginWorld();
  world.backend.script(({ method }, socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n${method === 'HEAD' ? '' : 'ok'}`);
  });
});
afterAll(() => world.close());

describeKinds(KINDS, '$name, whatever path it is sent', (kind) => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await world.gateway(kind);
  });
  afterAll(() => gateway?.close());

  it.each(['without a token', 'with a token'])('forwards nothing unjudged, and no forged identity, %s', async (who) => {
    const [members, own] =
      who === 'with a token'
        ? [['m-1'], [`Authorization: Bearer ${(await world.connect('m-1')).access_token}`]]
        : [[], []];
    world.backend.take();
    const written = fc
      .sample(request, { numRuns: REQUESTS / 2, seed: SEED })
      .map(({ method, place, pieces, fields }) => {
        const target = (place + pieces.join('')).replace('HOST', world.host);
        const length = method === 'POST' ? ['Content-Type: application/json', 'Content-Length: 0'] : [];
        const head = [`${method} ${target} HTTP/1.1`, `Host: ${world.host}`, 'Connection: close'];
        return [...head, ...own, ...fields, ...length].join('\r\n');
      });
    const found: string[] = [];
    let arrived = 0;
    for (let at = 0; at < written.length; at += AT_ONCE) {
      const some = written.slice(at, at + AT_ONCE);
      const answers = await Promise.all(some.map((one) => send(world.port, `${one}\r\n\r\n`, 5_000)));
      const seen = world.backend.take();
      arrived += seen.length;
      const flaws = seen.flatMap((one) => flawsOf(asRead(kind, one), world.origin, members));
      found.push(...flaws.map((flaw) => `${flaw}; sent: ${JSON.stringify(some)}`));
      for (const [index, answer] of answers.entries())
        if (!/^HTTP\/1\.[01] [1-4]/.test(answer)) found.push(`${some[index]}: ${answer.slice(0, 40)}`);
    }
    expect(found, `with the seed ${SEED}`).toEqual([]);
    // If nothing came through, this would show nothing.
    expect(arrived).toBeGreaterThan(REQUESTS / 80);
  });
});
