import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { RESERVED, SPELLINGS } from '../attack/families/forged-headers.ts';
import { GATEWAY_NAMES } from '../attack/families/gateway-identity.ts';
import { fillTrick, TRICKS } from '../support/path-tricks.ts';
import { SMUGGLED } from '../support/smuggling.ts';
import { type StrictRequest, valuesOf } from '../support/strict-http.ts';
import { ADVISORIES } from './support/advisories.ts';
import { ask, send } from './support/ask.ts';
import { asRead, flawsOf } from './support/backend-view.ts';
import type { RunningGateway } from './support/gateway-kind.ts';
import { describeKinds, KINDS } from './support/kinds.ts';
import { type PluginWorld, startPluginWorld } from './support/plugin-world.ts';

/** How many requests are sent at once. */
const AT_ONCE = 16;

/** Of these, servers have sent a body twice, or not at all. The gate takes each in its own time. */
const EXPECTATIONS = ['100-continue', '100-Continue, x', 'y', '100-continue\r\nExpect: 100-continue'].map(
  (value) => `POST LANE/x HTTP/1.1\r\nHost: HOST\r\nExpect: ${value}\r\nContent-Length: 3\r\n\r\nabc`,
);

let world: PluginWorld;
beforeAll(async () => {
  world = await startPluginWorld();
  world.backend.script(({ method }, socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n${method === 'HEAD' ? '' : 'ok'}`);
  });
});
afterAll(() => world.close());

function forget(): void {
  try {
    world.backend.take();
  } catch {
    // The test before has reported it.
  }
}

/** Runs `work` on every item, several at once. */
async function onEach<T>(items: readonly T[], work: (item: T, at: number) => Promise<void>): Promise<void> {
  const waiting = items.entries();
  const worker = async () => {
    for (const [at, item] of waiting) await work(item, at);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

describeKinds(KINDS, 'nothing gets through $name', (kind) => {
  let gateway: RunningGateway;
  let asMember: string;
  beforeAll(async () => {
    gateway = await world.gateway(kind);
    asMember = `Authorization: Bearer ${(await world.connect('m-1')).access_token}`;
  });
  afterAll(() => gateway?.close());
  // What one test lets through is not found by the next one as well.
  beforeEach(forget);

  const lanes = () => [
    { target: '/member/x', fields: [asMember], members: ['m-1'] },
    { target: '/public/x', fields: [], members: [] },
    { target: '/through/x', fields: [asMember], members: ['m-1'] },
    { target: '/pages/x', fields: [], members: [] },
  ];

  const flaws = (seen: readonly StrictRequest[], members: readonly string[]) =>
    seen.flatMap((request) => flawsOf(asRead(kind, request), world.origin, members));
  /** Nobody but the gate tells backends of its routes who and where a client is. */
  const evil = (seen: readonly StrictRequest[]) =>
    seen.flatMap(({ target, headers }) =>
      target.startsWith('/pages/')
        ? []
        : headers.filter(([, value]) => /evil/.test(value)).map((field) => field.join(': ')),
    );

  /** Sends fields to every lane. Fields that a gateway refuses are sent one by one, so that they do not hide others. */
  const sendForged = async (fields: readonly string[]): Promise<string[]> => {
    const found: string[] = [];
    for (const lane of lanes()) {
      const { status } = await ask(world.port, {
        host: world.host,
        target: lane.target,
        fields: [...lane.fields, ...fields],
      });
      const seen = world.backend.take();
      found.push(...flaws(seen, lane.members), ...evil(seen));
      if (status === 200) expect(seen.map(({ target }) => target)).toEqual([lane.target]);
      else if (fields.length > 1) for (const field of fields) found.push(...(await sendForged([field])));
      if (status !== 200 && fields.length > 1) break;
    }
    return found;
  };

  it('with an identity or an origin of the client, in any spelling', async () => {
    const names = [...RESERVED, ...GATEWAY_NAMES, 'X-Member', 'X-Member-Groups', 'X-Coursegate-Secret'];
    const spelled = SPELLINGS.flatMap(([, spell]) => names.map((name) => `${spell(name)}: evil`));
    const found: string[] = [];
    // Twice, so that one would stay if only the first were removed.
    const all = [...spelled, ...names.flatMap((name) => [`${name}: evil`, `${name}: evil`])];
    for (let at = 0; at < all.length; at += 20) found.push(...(await sendForged(all.slice(at, at + 20))));
    expect([...new Set(found)]).toEqual([]);
  });

  it('by a name in Connection', async () => {
    const names = [
      'X-Member-Id',
      'X-Coursegate-Assertion',
      'Host',
      'Authorization',
      'X-Forwarded-For',
      'Content-Length',
    ];
    for (const name of names) {
      const bytes = `GET /member/x HTTP/1.1\r\nHost: ${world.host}\r\n${asMember}\r\nConnection: close, ${name}\r\n\r\n`;
      const answer = await send(world.port, bytes, 5_000);
      const seen = world.backend.take();
      expect(flaws(seen, ['m-1']), name).toEqual([]);
      // Removing the token is the client's loss.
      if (answer.startsWith('HTTP/1.1 200'))
        expect(seen.flatMap((one) => valuesOf(asRead(kind, one).headers, 'x-member-id'))).toEqual(['m-1']);
      expect(seen.map(({ headers }) => valuesOf(headers, 'connection').join()).join(), name).not.toMatch(
        /x-member|assertion/i,
      );
    }
  });

  it('by a path that servers read differently', async () => {
    const found: string[] = [];
    const places = [
      { place: '/member', open: '/public', fields: [] as string[], members: [] as string[] },
      { place: '/member', open: '/public', fields: [asMember], members: ['m-1'] },
      { place: '/member', open: '/pages', fields: [], members: [] },
      { place: '/through', open: '/pages', fields: [], members: [] },
    ];
    for (const { place, open, fields, members } of places)
      await onEach(TRICKS, async ([, trick]) => {
        const target = fillTrick(trick, { place, open, host: world.host, canary: '127.0.0.1:9' });
        const head = [`GET ${target} HTTP/1.1`, `Host: ${world.host}`, 'Connection: close', ...fields];
        const answer = await send(world.port, `${head.join('\r\n')}\r\n\r\n`, 1_000);
        if (answer.startsWith('HTTP/1.1 5')) found.push(`${target.slice(0, 80)}: ${answer.slice(0, 40)}`);
      }).then(() => found.push(...flaws(world.backend.take(), members)));
    expect(found).toEqual([]);
  });

  it('in a message that servers delimit differently', async () => {
    const messages = [...SMUGGLED.map(({ bytes }) => bytes), ...EXPECTATIONS];
    const lanes = [
      { lane: '/public', own: '' },
      { lane: '/pages', own: '' },
      { lane: '/member', own: `${asMember}\r\n` },
    ];
    const sent = lanes.flatMap((lane) => messages.map((bytes) => ({ bytes, ...lane })));
    await onEach(sent, async ({ bytes, lane, own }, number) => {
      const first = bytes
        .replaceAll('/public/hidden', '/member/hidden')
        // Without a type, a POST to a route could be a form, and would be refused for that.
        .replace('Host: HOST\r\n', `Host: HOST\r\nContent-Type: application/json\r\n${own}`);
      const whole = `${first}GET LANE/next HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n`
        .replaceAll('HOST', world.host)
        .replaceAll('LANE', `${lane}/${number}`);
      // Some wait for the rest of what they read as a body.
      await send(world.port, whole, 300);
    });
    const seen = world.backend.take();
    expect(flaws(seen, ['m-1'])).toEqual([]);
    const other = seen.filter(({ target }) => !/^\/(?:public|pages)\/\d+\/(?:x|next)$|^\/member\/\d+\/x$/.test(target));
    expect(other.map(({ target }) => target)).toEqual([]);
    // Each message is at most two requests: itself and the one that follows it.
    expect(new Set(seen.map(({ target }) => target)).size).toBe(seen.length);
    // If nothing came through, this would show nothing.
    expect(seen.length).toBeGreaterThan(30);
  });

  it('in a request that breaks off', async () => {
    const head = `POST /member/x HTTP/1.1\r\nHost: ${world.host}\r\n${asMember}\r\nContent-Type: application/json\r\n`;
    const whole = `${head}Content-Length: 20\r\n\r\n{"a":"0123456789ab"}`;
    const cuts = Array.from({ length: 40 }, (_, at) => Math.floor((at * (whole.length - 1)) / 40));
    await onEach([...cuts, whole.length - 1], async (cut) => {
      await send(world.port, whole.slice(0, cut), 50);
    });
    await onEach(['5\r\n{"a":\r\n', '5\r\n{"a"', '5\r\n{"a":\r\n0\r\n'], async (chunks) => {
      await send(world.port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}`, 50);
    });
    // A whole request, so that the backend has received whatever was sent before it.
    await ask(world.port, { host: world.host, target: '/public/x' });
    expect(world.backend.take().map(({ target }) => target)).toEqual(['/public/x']);
  });

  it.each(ADVISORIES)('$id: $what', async ({ target, fields = [], asMember: member, admitted }) => {
    const own = member === true ? [asMember, ...fields] : fields;
    const head = [`GET ${target} HTTP/1.1`, `Host: ${world.host}`, 'Connection: close', ...own];
    const answer = await send(world.port, `${head.join('\r\n')}\r\n\r\n`, 5_000);
    const seen = world.backend.take();
    expect([...flaws(seen, member === true ? ['m-1'] : []), ...evil(seen)]).toEqual([]);
    // A gateway may also refuse fields that it does not pass on.
    if (admitted === true && answer.startsWith('HTTP/1.1 200')) expect(seen.map((one) => one.target)).toEqual([target]);
    else expect(answer.startsWith('HTTP/1.1 2')).toBe(false);
  });
});
