import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Command, runCommand } from '../support/command.ts';
import { slowness } from '../support/pace.ts';

let dir: string;
let server: Server | undefined;
/** Bytes of the largest process that `init`, `doctor` and `connect` are at a site without anything. */
let plain: number;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'coursegate-hostile-'));
  const url = await serve((_request, response) => void response.writeHead(404).end());
  const peaks = [];
  for (const name of COMMANDS) peaks.push((await measured(run(name, url))).peak);
  plain = Math.max(...peaks);
  await stop();
});
afterEach(stop);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function serve(listener: RequestListener): Promise<string> {
  server = await listening(listener);
  return urlOf(server);
}

async function stop(): Promise<void> {
  const stopping = server;
  server = undefined;
  if (stopping !== undefined) await closed(stopping);
}

async function listening(listener: RequestListener): Promise<Server> {
  const started = createServer(listener);
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  return started;
}

const urlOf = (started: Server) => `http://127.0.0.1:${(started.address() as AddressInfo).port}`;

async function closed(started: Server): Promise<void> {
  const gone = new Promise((resolve) => started.close(resolve));
  started.closeAllConnections();
  await gone;
}

const COMMANDS = ['init', 'doctor', 'connect'] as const;

function run(name: (typeof COMMANDS)[number], url: string): Command {
  const into = mkdtempSync(join(dir, 'site-'));
  if (name === 'init') return runCommand(['init', '--upstream', url, '--dir', into, '--admin-port', '9191', '--yes']);
  return runCommand(name === 'doctor' ? ['doctor', url, '--timeout', '60'] : ['connect', url, '--no-browser']);
}

/** Runs a command to its end. `peak` is the most memory it had, in bytes; `cpu` its seconds of CPU on a usual machine. */
async function measured(command: Command): Promise<{ code: number | string; said: string; peak: number; cpu: number }> {
  let [peak, cpu] = [0, 0];
  const look = () => {
    try {
      const status = readFileSync(`/proc/${command.pid}/status`, 'utf8');
      peak = Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? peak / 1024) * 1024;
      const fields = readFileSync(`/proc/${command.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      cpu = (Number(fields[11]) + Number(fields[12])) / 100;
    } catch {
      // It has ended.
    }
  };
  const timer = setInterval(look, 20);
  const code = await command.exited;
  clearInterval(timer);
  return { code, said: command.stdout() + command.stderr(), peak, cpu: cpu / slowness() };
}

const JSON_TYPE = { 'content-type': 'application/json' };
/** What is inside the bombs: more than the memory that a command may use. */
const INSIDE = Buffer.alloc(400 * 1024 * 1024, ' ');
const FASTEST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const BOMBS: Readonly<Record<string, () => Buffer>> = {
  gzip: () => gzipSync(INSIDE, { level: 1 }),
  deflate: () => deflateSync(INSIDE, { level: 1 }),
  br: () => brotliCompressSync(INSIDE, FASTEST),
};

function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(65_536, ' ');
  response.writeHead(200, JSON_TYPE);
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}

/** A document on which `connect` and `doctor` build, with members that say nothing. */
const metadata = (origin: string, more: object) => ({
  resource: origin,
  authorization_servers: [origin],
  issuer: origin,
  authorization_endpoint: `${origin}/authorize`,
  token_endpoint: `${origin}/token`,
  registration_endpoint: `${origin}/register`,
  code_challenge_methods_supported: ['S256'],
  ...more,
});

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

/** A description of one record whose properties all refer to the record itself. */
function selfReferring(properties: number): object {
  const names = Array.from({ length: properties }, (_, at) => [`p${at}`, { $ref: '#/components/schemas/S' }]);
  const schema = { $ref: '#/components/schemas/S' };
  const get = { summary: 'Me', responses: { 200: { content: { 'application/json': { schema } } } } };
  const post = { ...get, requestBody: { content: { 'application/json': { schema } } } };
  return {
    openapi: '3.0.0',
    info: { title: 'Site', version: '1' },
    paths: { '/v1/me': { get, post }, '/v1/courses': { get } },
    components: { schemas: { S: { type: 'object', properties: Object.fromEntries(names) } } },
  };
}

/** More than a plain run may take: some documents of a few megabytes, and the garbage of reading them. */
const MORE_MEMORY = 200 * 1024 * 1024;
const MOST_CPU = 8;

describe('a command at a hostile site', () => {
  const bounded = async (command: Command) => {
    const { code, said, peak, cpu } = await measured(command);
    expect(peak, `peak of memory (plain: ${plain})`).toBeLessThan(plain + MORE_MEMORY);
    expect(cpu, 'seconds of CPU').toBeLessThan(MOST_CPU);
    return { code, said };
  };

  const SAYS = {
    init: {
      code: 0,
      endless: /Not read: .*\/openapi\.json has more than 4 MiB/,
      deep: /Not read: .*\/openapi\.json has more than 100 levels of lists and objects/,
    },
    doctor: { code: 2, endless: /✗/, deep: /✗/ },
    connect: {
      code: 1,
      endless: /answered with more than 8 MiB\./,
      deep: /answered with JSON that has more than 100 levels of lists and objects\./,
    },
  } as const;

  it.each(COMMANDS)('%s reads the beginning of endless bodies', async (name) => {
    const url = await serve((_request, response) => flood(response));
    const { code, said } = await bounded(run(name, url));
    expect(said).toMatch(SAYS[name].endless);
    expect(code).toBe(SAYS[name].code);
  });

  describe.each(Object.keys(BOMBS))('with %s bombs', (coding) => {
    let bomb: Buffer;
    beforeAll(() => {
      bomb = BOMBS[coding]?.() ?? Buffer.alloc(0);
    });

    it.each(COMMANDS)('%s decompresses the beginning', async (name) => {
      const url = await serve((_request, response) =>
        response.writeHead(200, { ...JSON_TYPE, 'content-encoding': coding }).end(bomb),
      );
      const { code, said } = await bounded(run(name, url));
      expect(said).toMatch(SAYS[name].endless);
      expect(code).toBe(SAYS[name].code);
    });
  });

  // They wait for most of ten seconds, so all at once.
  it.concurrent.each(COMMANDS)('%s leaves a site that sends a byte at a time', async (name) => {
    const slow = await listening((_request, response) => {
      response.writeHead(200, JSON_TYPE);
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    const begin = performance.now();
    const { code, said } = await bounded(run(name, urlOf(slow)));
    await closed(slow);
    expect(said).toMatch(/no complete response within|did not answer in time/);
    expect(code).toBe({ init: 0, doctor: 2, connect: 69 }[name]);
    expect(performance.now() - begin).toBeLessThan(50_000);
  });

  it.each(COMMANDS)('%s follows endless redirects a few times at most', async (name) => {
    const asked = new Map<string, number>();
    let requests = 0;
    const url = await serve((request, response) => {
      requests += 1;
      const at = request.url ?? '';
      asked.set(at, (asked.get(at) ?? 0) + 1);
      response.writeHead(302, { location: `${at}x` }).end();
    });
    const { code } = await bounded(run(name, url));
    expect(code).toBe({ init: 0, doctor: 2, connect: 1 }[name]);
    expect(requests).toBeLessThan(400);
  });

  it.each(COMMANDS)('%s does not parse JSON of 100,000 levels', async (name) => {
    const url = await serve((_request, response) => response.writeHead(200, JSON_TYPE).end(deep(100_000)));
    const { code, said } = await bounded(run(name, url));
    expect(said).toMatch(SAYS[name].deep);
    expect(code).toBe(SAYS[name].code);
  });

  describe.each([4000, 20_000])('with a description of %i properties that refer to their own record', (properties) => {
    it.each(COMMANDS)('%s reads it in linear time', async (name) => {
      const description = JSON.stringify(selfReferring(properties));
      const url = await serve((request, response) => {
        const document = request.url === '/openapi.json' ? description : undefined;
        const is = request.url?.startsWith('/.well-known/oauth-') === true;
        const origin = `http://${request.headers.host}`;
        response.writeHead(is || document !== undefined ? 200 : request.url === '/v1/me' ? 401 : 404, JSON_TYPE);
        response.end(document ?? (is ? JSON.stringify(metadata(origin, {})) : '{}'));
      });
      const { said } = await bounded(run(name, url));
      if (name === 'init') expect(said).toMatch(/API: \/openapi\.json, with 2 readable addresses/);
    });
  });
});

describe('coursegate mcp import', () => {
  const CONFIG = `version: 1
profile: B
origin: http://127.0.0.1:8080
store: { kind: memory }
upstreams: { site: { url: "http://127.0.0.1:8000" } }
login: { kind: session, upstream: site, whoami: { path: /me, subject: /id }, loginUrl: http://127.0.0.1:8080/login, cookies: [s] }
routes: [{ match: "* /v1/**", upstream: site, scopes: [courses:read] }]
`;

  const importing = async (text: string) => {
    const [config, openapi] = [join(dir, 'c.yaml'), join(dir, 'openapi.yaml')];
    writeFileSync(config, CONFIG);
    writeFileSync(openapi, text);
    return measured(runCommand(['mcp', 'import', '--config', config, '--openapi', openapi, '--writes']));
  };

  it.each([4000, 20_000])(
    'leaves out an operation whose input has %i properties of its own kind',
    async (properties) => {
      const { code, said, peak, cpu } = await importing(JSON.stringify(selfReferring(properties)));
      expect(said).toContain('left out: POST /v1/me: its input has more than 1000 parts');
      expect(said).toContain('2 tools proposed');
      expect(code).toBe(0);
      expect(peak).toBeLessThan(plain + MORE_MEMORY);
      expect(cpu).toBeLessThan(MOST_CPU);
    },
  );

  const aliases = (levels: number) =>
    ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
      .concat(Array.from({ length: levels }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}]`))
      .join('\n');

  it.each([
    ['aliases of aliases', aliases(12), 'The document refers too often to its own parts.'],
    ['lists in lists', '- '.repeat(20_000), 'The document is nested too deeply.'],
    ['deep JSON', deep(100_000), 'The document has more than 100 levels of lists and objects.'],
    ['five megabytes', `a: ${'x'.repeat(5 * 1024 ** 2)}`, 'The document has more than 4 MiB.'],
  ])('refuses %s', async (_name, text, message) => {
    const { code, said, peak, cpu } = await importing(text);
    expect(said.split('\n')[0]).toBe(message);
    expect(code).toBe(1);
    expect(peak).toBeLessThan(plain + MORE_MEMORY);
    expect(cpu).toBeLessThan(MOST_CPU);
  });

  it('reads 40,000 keys in linear time', async () => {
    const keys = Array.from({ length: 40_000 }, (_, at) => `  k${at}: 1`).join('\n');
    const { code, said, cpu } = await importing(`openapi: 3.0.0\npaths: {}\nx-keys:\n${keys}\n`);
    expect(said).toContain('0 tools proposed');
    expect(code).toBe(0);
    expect(cpu).toBeLessThan(MOST_CPU);
  });
});
