import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSchema, graphqlSync } from 'graphql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compareSchemas, pullSchemas } from '../../src/account/remote/recording.ts';
import { loadConfig } from '../../src/config/load.ts';

const BEFORE = `type Query { people(ids: [ID!]!): [Person]! other: Int }
"A person." type Person { nickname: String state: State age: Int }
enum State { ON OFF }`;
const CONTRACT = `type Query { viewer: Viewer! }
type Viewer { id: ID! nickname: String state: State }
enum State { ON OFF UNKNOWN }`;
const MAPPING = `extend schema @source(name: "people", graphql: {}, http: { headers: [
  { name: "x-tenant", value: "{$config.tenant}" } { name: "x-who", value: "{$context.sub}" }] })
extend type Viewer {
  nickname: String @graphql(source: "people", root: "people", member: "ids")
  state: State @graphql(source: "people", root: "people", member: "ids")
}`;

let served = BEFORE;
let headers: Record<string, unknown> = {};
let folder = '';
const server = createServer(async (request, response) => {
  headers = request.headers;
  let text = '';
  for await (const chunk of request) text += chunk;
  response.end(JSON.stringify(graphqlSync({ schema: buildSchema(served), source: JSON.parse(text).query })));
});

beforeEach(async () => {
  served = BEFORE;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  folder = await mkdtemp(join(tmpdir(), 'recording-'));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await writeFile(join(folder, 'account.graphql'), CONTRACT);
  await writeFile(join(folder, 'people.map.graphql'), MAPPING);
  await writeFile(
    join(folder, 'gate.yaml'),
    `version: 1
profile: A
origin: http://localhost:8080
login: { kind: session, upstream: school, whoami: { path: /api/me, subject: /id }, loginUrl: /login, returnParam: r, cookies: [s] }
store: { kind: memory }
site: { upstream: school }
upstreams: { school: { url: "http://127.0.0.1:9" }, people: { url: "${url}" } }
account:
  schema: account.graphql
  mappings: people.map.graphql
  config: { tenant: { env: TENANT } }
  upstreamSchemas: { people: recorded/people.graphql }
`,
  );
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const loaded = () => loadConfig({ file: join(folder, 'gate.yaml'), environment: { TENANT: 'harbour' } });

test('a schema is recorded without a member’s identity, and is the same text each time', async () => {
  const file = join(folder, 'recorded/people.graphql');
  expect(await compareSchemas(await loaded())).toEqual([`people: ${file} does not exist yet`]);
  expect(await pullSchemas(await loaded())).toEqual([`people: recorded in ${file}`]);
  expect(headers).toMatchObject({ 'x-tenant': 'harbour' });
  expect(headers).not.toHaveProperty('x-who');
  expect(headers).not.toHaveProperty('x-member-id');
  expect(await readFile(file, 'utf8')).toContain('"""A person."""\ntype Person {\n  age: Int\n  nickname: String\n');
  expect(await pullSchemas(await loaded(), 'people')).toEqual([`people: no change in ${file}`]);
  expect(await compareSchemas(await loaded())).toEqual([]);
});

test('account diff reports what would break the mapping, then every change, the most severe first', async () => {
  await pullSchemas(await loaded());
  served = BEFORE.replace('nickname: String', 'nick: String')
    .replace('ON OFF', 'ON AWAY')
    .replace('age: Int', 'age: String');
  const lines = await compareSchemas(await loaded());
  expect(lines).toEqual([
    expect.stringMatching(
      /^people: would break the mapping: .*people\.map\.graphql:4:\d+ Viewer\.nickname: the upstream's Person has no field nickname$/,
    ),
    'people: breaking: Enum value State.OFF was removed.',
    'people: breaking: Field Person.age changed type from Int to String.',
    'people: breaking: Field Person.nickname was removed.',
    'people: dangerous: Enum value State.AWAY was added.',
    'people: safe: Field Person.nick was added.',
  ]);
});

test('a schema that cannot be recorded is reported with the reason', async () => {
  await expect(pullSchemas(await loaded(), 'peopel')).rejects.toThrow('No @source with graphql is named "peopel".');
  served = 'type Query { a: Int }';
  server.removeAllListeners('request');
  server.on('request', (_request, response) =>
    response.writeHead(403).end('{"errors":[{"message":"introspection is off"}]}'),
  );
  await expect(pullSchemas(await loaded())).rejects.toThrow(
    'people does not return its schema (status 403: introspection is off).',
  );
  server.removeAllListeners('request');
  server.on('request', (_request, response) => response.end(`{"errors":[{"message":"${'x'.repeat(400)}"}]}`));
  await expect(pullSchemas(await loaded())).rejects.toThrow(`(status 200: ${'x'.repeat(288)}).`);
  await writeFile(join(folder, 'people.map.graphql'), MAPPING.replace('state: State', 'stat: State'));
  await expect(pullSchemas(await loaded())).rejects.toThrow('the contract has no such field');
});
