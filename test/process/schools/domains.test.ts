import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Schools, startSchools } from '../../support/schools.ts';
import { freePort } from '../../support/world.ts';

const ONE = {
  profile: 'A',
  origin: 'https://one.example',
  aliases: { 'https://www.one.example': 'redirect', 'https://a.one.example': 'serve', 'http://localhost': 'serve' },
};
const TWO = { profile: 'A', origin: 'https://two.example:8443', pages: { origin: 'https://sign-in.two.example' } };
const MISTAKEN = { profile: 'A', origin: 'https://bad.example', routes: [{ match: 'GET /x', upstream: 'nowhere' }] };

/** Far more than a loaded machine needs. */
const PATIENCE = { timeout: 30_000, interval: 50 };

describe('a proxy that asks whether it may obtain a certificate', () => {
  let schools: Schools;
  let probes: string;
  beforeAll(async () => {
    const port = await freePort();
    probes = `http://127.0.0.1:${port}`;
    schools = await startSchools({
      schools: { one: ONE, two: TWO, bad: MISTAKEN },
      main: { listen: { port: await freePort(), admin: { port: 0 }, probes: { port } } },
    });
  });
  afterAll(() => schools.close());

  const ask = async (query: string, init: RequestInit = {}) => (await fetch(`${probes}/tls${query}`, init)).status;
  const states = async () => {
    const { schools: all } = (await (await fetch(`${schools.admin}/schools`)).json()) as {
      schools: { name: string; state: string }[];
    };
    return Object.fromEntries(all.map(({ name, state }) => [name, state]));
  };

  it.each(['one.example', 'www.one.example', 'a.one.example', 'two.example', 'sign-in.two.example'])(
    'may for %s, and no school is opened for the answer',
    async (domain) => {
      const answer = await fetch(`${probes}/tls?domain=${domain}`);
      expect([answer.status, await answer.text()]).toEqual([200, 'ok\n']);
      expect(Object.values(await states())).not.toContain('open');
    },
  );

  it.each([
    ['another name', '?domain=three.example'],
    ['a name below one', '?domain=x.one.example'],
    ['a name above one', '?domain=example'],
    ['an address without TLS', '?domain=localhost'],
    ['a name with a port', '?domain=two.example:8443'],
    ['a name with a dot at its end', '?domain=one.example.'],
    ['an unusual spelling', '?domain=One.Example'],
    ['an escape', '?domain=one%2Eexample'],
    ['a pattern', '?domain=*.example'],
    ['two names', '?domain=one.example&domain=two.example'],
    ['two names in one', '?domain=one.example,two.example'],
    ['a list', '?domain[]=one.example'],
    ['another parameter', '?domain=one.example&x=1'],
    ['an empty name', '?domain='],
    ['no name', ''],
    ['a name of an object', '?domain=constructor'],
    ['a long name', `?domain=${'a.'.repeat(3000)}one.example`],
  ])('may not for %s', async (_title, query) => {
    const answer = await fetch(`${probes}/tls${query}`);
    expect([answer.status, await answer.text()]).toEqual([404, 'not found\n']);
  });

  it('may not ask with another method, for another host of the listener, or from a page', async () => {
    expect(await ask('?domain=one.example', { method: 'POST' })).toBe(404);
    expect(await ask('?domain=one.example', { headers: { origin: 'https://one.example' } })).toBe(403);
    expect((await fetch(`${probes}/tls/?domain=one.example`)).status).toBe(404);
    expect((await fetch(`${schools.admin}/tls?domain=one.example`)).status).toBe(200);
    for (const name of ['one', 'tls']) expect((await fetch(`${probes}/schools/${name}/livez`)).status).toBe(404);
  });

  it('may not once the file of a school is known to be invalid, and may again once it is valid', async () => {
    await expect.poll(() => ask('?domain=bad.example'), PATIENCE).toBe(404);
    schools.write('bad', { ...MISTAKEN, routes: [] });
    await schools.reload();
    expect(await ask('?domain=bad.example')).toBe(200);
    // What was valid before is served on, and needs its certificate.
    schools.write('bad', MISTAKEN);
    await schools.reload();
    expect(await ask('?domain=bad.example')).toBe(200);
  });

  it('may for the addresses that a school has now, and no longer for those that it had', async () => {
    schools.write('two', { ...TWO, origin: 'https://second.example' });
    await schools.reload();
    expect([await ask('?domain=second.example'), await ask('?domain=two.example')]).toEqual([200, 404]);
    schools.write('two', undefined);
    await schools.reload();
    expect(await ask('?domain=second.example')).toBe(404);
  });
});

describe('the file of `domains`', () => {
  let schools: Schools;
  afterEach(() => schools.close());

  const read = (name: string) => {
    const file = join(schools.folder, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };

  it('lists the names of all schools that are served, as they change, and leaves no other file', async () => {
    schools = await startSchools({ schools: { one: ONE, two: TWO, bad: MISTAKEN }, main: { domains: './list.txt' } });
    const names = ['a.one.example', 'one.example', 'sign-in.two.example', 'two.example', 'www.one.example'];
    await expect.poll(() => read('list.txt'), PATIENCE).toBe(`${names.join('\n')}\n`);
    schools.write('two', undefined);
    schools.write('bad', { ...MISTAKEN, routes: [] });
    await schools.reload();
    await expect
      .poll(() => read('list.txt'), PATIENCE)
      .toBe('a.one.example\nbad.example\none.example\nwww.one.example\n');
    expect(readdirSync(schools.folder).filter((name) => name.startsWith('list'))).toEqual(['list.txt']);
  });

  it('is what nginx includes in a server, and what Traefik reads as routers', async () => {
    schools = await startSchools({ schools: { two: TWO }, main: { domains: './list.conf' } });
    await expect
      .poll(() => read('list.conf'), PATIENCE)
      .toBe('server_name sign-in.two.example;\nserver_name two.example;\n');
    const ofMain = { listen: { port: schools.port, admin: { port: 0 } }, domains: './routers.yaml' };
    schools.writeMain(ofMain);
    await schools.reload();
    await expect
      .poll(() => parse(read('routers.yaml') ?? ''), PATIENCE)
      .toEqual({
        http: {
          routers: {
            'sign-in.two.example': { rule: 'Host(`sign-in.two.example`)', service: 'coursegate' },
            'two.example': { rule: 'Host(`two.example`)', service: 'coursegate' },
          },
        },
      });
    schools.write('two', undefined);
    await schools.reload();
    await expect.poll(() => parse(read('routers.yaml') ?? 'x'), PATIENCE).toEqual({});
  });

  it('keeps no school from being served if it cannot be written, and is written once it can', async () => {
    schools = await startSchools({ schools: { one: ONE }, main: { domains: './schools' } });
    expect((await fetch(`${ONE.origin}/.well-known/oauth-protected-resource`)).status).toBe(200);
    const ofMain = { listen: { port: schools.port, admin: { port: 0 } }, domains: './list.txt' };
    schools.writeMain(ofMain);
    await schools.reload();
    await expect.poll(() => read('list.txt'), PATIENCE).toContain('one.example\n');
  });
});
