import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importApi } from '../../src/discovery/openapi/upstream/import-api.ts';
import { authorizationRequest, redeem, registerApp } from '../support/app.ts';
import { approve } from '../support/member.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';
import { describedApi } from './support/described-api.ts';
import { lint } from './support/lint.ts';
import { SCHOOL_API } from './support/school-api.ts';

type Json = Record<string, unknown>;
interface Document extends Json {
  readonly paths: Record<string, Record<string, Json>>;
  readonly components: { readonly schemas: Record<string, Json> };
}

/** Allowed text with similar names: a property may be called x-level. */
const OUR_OWN = /client_secret\w*|x-www-form-urlencoded|"x-level"|"x-read-scopes"/g;

const ROUTES = [
  { match: 'GET /api/v1/courses/**', upstream: 'backend', scopes: ['courses:read'] },
  { match: 'POST|DELETE /api/v1/courses/**', upstream: 'backend', scopes: ['courses:write'] },
  {
    match: 'GET /my/orders',
    rewrite: '/api/v1/members/{member.id}/orders',
    upstream: 'backend',
    scopes: ['orders:read'],
    anonymous: 'refuse',
  },
  { match: 'GET /api/v1/members/{member.id}/orders', upstream: 'backend', anonymous: 'refuse' },
  { match: 'GET /api/v1/notes', query: { user_id: '{member.id}' }, upstream: 'backend', anonymous: 'refuse' },
  { match: 'POST /api/v1/notes', body: { user_id: '{member.id}' }, upstream: 'backend', anonymous: 'refuse' },
  { match: 'GET /api/v1/forms/**', upstream: 'backend', scopes: ['forms:read'] },
];

describe('the OpenAPI document of an upstream', () => {
  let world: World;
  let backend: RecordingUpstream;
  let document: Document;
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-api-'));
  const read = async () => (await (await fetch(`${world.origin}/openapi.json`)).json()) as Document;

  beforeAll(async () => {
    backend = await startRecordingUpstream((request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.url?.startsWith('/api/v1/courses?')) response.end('{"data":[{"title":"Knots","subtitle":null}]}');
      else response.writeHead(404).end('{"error":{}}');
    });
    const file = join(folder, 'api.json');
    writeFileSync(file, JSON.stringify(SCHOOL_API));
    world = await startWorld({
      profile: 'A',
      overrides: {
        upstreams: { backend: { url: backend.url, openapi: { file } } },
        routes: ROUTES,
        mcp: undefined,
        resources: [],
      },
    });
    document = await read();
  });
  afterAll(async () => {
    await world.close();
    await backend.close();
    rmSync(folder, { recursive: true });
  });

  it('adds exactly the operations that a route leads to', () => {
    const theirs = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, { operationId, tags }]) =>
        ['oauth', 'discovery', 'account', 'tools'].includes((tags as string[])[0] ?? '')
          ? []
          : [[`${method} ${path}`, operationId]],
      ),
    );
    expect(Object.fromEntries(theirs)).toEqual({
      'get /api/v1/courses': 'listCourses',
      'post /api/v1/courses': 'addCourse',
      'get /api/v1/courses/{slug}': 'getCourse',
      'post /api/v1/courses/{slug}': 'joinCourse',
      'get /my/orders': 'ordersOfMember',
      'get /api/v1/members/{member_id}/orders': 'ordersOfMember2',
      'get /api/v1/notes': 'listNotes',
      'post /api/v1/notes': 'addNote',
      'get /api/v1/forms': 'getApiV1Forms',
      'get /api/v1/forms/{rest}': 'getApiV1FormsRest',
    });
  });

  it('passes the linter without findings', async () => {
    expect(await lint(document)).toEqual([]);
  });

  it('reveals nothing that was not meant for clients of the gate', () => {
    const text = JSON.stringify(document);
    for (const word of ['secret', 'internal', 'staffKey', 'x-', 'User_Id', 'nullable']) {
      expect({ word, said: text.replace(OUR_OWN, '').includes(word) }).toEqual({ word, said: false });
    }
    expect(text).not.toContain(backend.url);
    expect(
      Object.keys(document.components.schemas)
        .filter((name) => name.includes('.'))
        .sort(),
    ).toEqual(['backend.Course', 'backend.CoursePage', 'backend.Failure']);
  });

  it('keeps the descriptions of the upstream, with our security and errors', () => {
    expect(document.paths['/api/v1/courses']?.get).toMatchObject({
      summary: 'List courses',
      tags: ['courses'],
      security: [{ oauth2: ['courses:read'] }, { openIdConnect: ['courses:read'] }],
      responses: {
        200: { description: 'The courses.', headers: { ETag: { schema: { type: 'string' } } } },
        401: { $ref: '#/components/responses/Unauthorized' },
        403: { $ref: '#/components/responses/RouteForbidden' },
        404: { description: 'No such page.' },
        429: { $ref: '#/components/responses/ProblemTooManyRequests' },
      },
    });
    expect(document.paths['/api/v1/courses']?.post).toMatchObject({
      security: [{ oauth2: ['courses:write'] }, { openIdConnect: ['courses:write'] }],
      requestBody: { required: true, content: { 'application/json': { example: { title: 'Knots' } } } },
    });
    // Its request body is marked as internal.
    expect(document.paths['/api/v1/courses/{slug}']?.post).not.toHaveProperty('requestBody');
  });

  const parametersOf = (path: string) =>
    (document.paths[path]?.get?.parameters ?? []) as { name: string; in: string; required: boolean; schema: Json }[];

  it('keeps exactly the parameters that reach the upstream', () => {
    expect(parametersOf('/api/v1/courses').map(({ name }) => name)).toEqual([
      ...['search', 'Accept-Language', 'topics', 'page'],
    ]);
    expect(parametersOf('/api/v1/courses')[2]).toMatchObject({ style: 'form', explode: false });
    expect(parametersOf('/api/v1/courses/{slug}')).toEqual([
      { name: 'slug', in: 'path', required: true, description: 'Its name.', schema: { type: 'string' } },
    ]);
  });

  it('omits what the gate fills in from the member, wherever it was', () => {
    expect(parametersOf('/my/orders').map(({ name }) => name)).toEqual(['year']);
    expect(parametersOf('/api/v1/notes').map(({ name }) => name)).toEqual(['kind']);
    const { content } = (document.paths['/api/v1/notes']?.post?.requestBody ?? {}) as {
      content?: Record<string, Json>;
    };
    expect(content).toEqual({
      'application/json': {
        schema: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
      },
    });
  });

  it('has a parameter for the member ID if it is part of the path', () => {
    const [parameter, ...others] = parametersOf('/api/v1/members/{member_id}/orders');
    expect(parameter).toMatchObject({ name: 'member_id', in: 'path', required: true, schema: { type: 'string' } });
    expect(others.map(({ name }) => name)).toEqual(['year']);
  });

  it('has OpenAPI 3.0 schemas converted to JSON Schema', () => {
    expect(document.components.schemas['backend.Course']).toEqual({
      type: 'object',
      required: ['title'],
      properties: {
        title: { type: 'string' },
        'x-level': { type: 'integer' },
        subtitle: { type: ['string', 'null'] },
        next: { $ref: '#/components/schemas/backend.Course' },
        gone: {},
        lecturer: {},
      },
    });
    expect(parametersOf('/my/orders')[0]?.schema).toEqual({ type: 'integer', exclusiveMinimum: 2000 });
  });

  it('describes the actual responses', async () => {
    const app = await registerApp(world.origin);
    const request = await authorizationRequest(app, { scope: 'courses:read' });
    const tokens = await redeem(app, request, await approve(request.url, app.redirectUri));
    const api = describedApi(document);
    const named = (id: string) => {
      const found = api.operations.find((operation) => operation.id === id);
      if (found === undefined) throw new Error(`there is no ${id}`);
      return found;
    };
    const token = tokens.access_token;
    const listed = await api.call(named('listCourses'), { token, query: { page: '1' } });
    expect(listed).toMatchObject({ status: 200, flaws: [], body: { data: [{ title: 'Knots' }] } });
    expect(await api.call(named('listCourses'), {})).toMatchObject({ status: 401, flaws: [] });
    expect(await api.call(named('addCourse'), { token, json: {} })).toMatchObject({ status: 403, flaws: [] });
    expect(await api.call(named('listCourses'), { token })).toMatchObject({ status: 404, flaws: [] });
  });
});

describe('an invalid OpenAPI document', () => {
  it('is a configuration error', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-api-'));
    const start = (openapi: unknown) =>
      startWorld({
        profile: 'A',
        overrides: { upstreams: { backend: { url: 'http://127.0.0.1:1', openapi } }, routes: [] },
      });
    const file = join(folder, 'api.yaml');
    try {
      await expect(start({ file })).rejects.toThrow(
        /upstreams\.backend\.openapi\.file: cannot read .*there is no such file/,
      );
      writeFileSync(file, 'swagger: "2.0"');
      await expect(start({ file })).rejects.toThrow(/api\.yaml: is a Swagger 2 document/);
      writeFileSync(file, 'openapi: "3.1.0"\npaths: [');
      await expect(start({ file })).rejects.toThrow(/api\.yaml: line 2: /);
      writeFileSync(file, `{openapi: "3.1.0", paths: ${'['.repeat(200)}${']'.repeat(200)}}`);
      await expect(start({ file })).rejects.toThrow(/api\.yaml: is nested too deeply/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

const upstream = { url: 'http://127.0.0.1:1', headers: { request: { allow: [], drop: [] }, response: { drop: [] } } };
const facts = { summary: 's', description: 'd', security: [], responses: {}, tag: 't' };

it('copies every keyword that can contain a schema, without extensions', async () => {
  const inner = { type: 'string', minLength: 1, 'x-staff': true };
  const keywords = ['items', 'not', 'if', 'then', 'else', 'contains', 'propertyNames', 'contentSchema'];
  const open = ['additionalProperties', 'unevaluatedItems', 'unevaluatedProperties'];
  const lists = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
  const maps = ['properties', 'patternProperties', 'dependentSchemas'];
  const around = (one: unknown) => ({
    ...Object.fromEntries([...keywords, ...open].map((keyword) => [keyword, one])),
    ...Object.fromEntries(lists.map((keyword) => [keyword, [one, one]])),
    ...Object.fromEntries(maps.map((keyword) => [keyword, { a: one }])),
  });
  const schemas = { All: around(inner), Closed: Object.fromEntries(open.map((keyword) => [keyword, false])) };
  const described = (name: string) => ({
    description: name,
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
  });
  const get = { responses: { 200: described('All'), 201: described('Closed') } };
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-api-'));
  const file = join(folder, 'api.json');
  writeFileSync(file, JSON.stringify({ openapi: '3.1.0', components: { schemas }, paths: { '/a': { get } } }));
  const world = await startWorld({
    profile: 'A',
    overrides: {
      upstreams: { backend: { url: 'http://127.0.0.1:1', openapi: { file } } },
      routes: [{ match: 'GET /a', upstream: 'backend', scopes: ['courses:read'] }],
    },
  });
  try {
    const { components } = (await (await fetch(`${world.origin}/openapi.json`)).json()) as Document;
    const copied = Object.entries(components.schemas).filter(([name]) => name.startsWith('backend.'));
    expect(Object.fromEntries(copied)).toEqual({
      'backend.All': around({ type: 'string', minLength: 1 }),
      'backend.Closed': schemas.Closed,
    });
  } finally {
    await world.close();
    rmSync(folder, { recursive: true });
  }
});

describe('an untrusted OpenAPI document', () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<unknown>(
        null,
        true,
        1,
        '',
        '#/paths',
        '#/components/schemas/A',
        '#/components/schemas/__proto__',
        'http://x',
      ),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom(
          ...[
            '$ref',
            'schema',
            'content',
            'properties',
            'items',
            'allOf',
            'headers',
            'parameters',
            'requestBody',
            'required',
          ],
          ...[
            'responses',
            '200',
            'name',
            'in',
            'type',
            'nullable',
            'application/json',
            'examples',
            'servers',
            'url',
            '__proto__',
          ],
        ),
        tie('any'),
        { maxKeys: 5 },
      ),
    ),
  })).any;

  it('never causes an exception or a dangling reference', () => {
    fc.assert(
      fc.property(value, value, value, fc.constantFrom('3.0.1', '3.1.0'), (operation, schema, servers, openapi) => {
        const paths = { '/a/{id}': { get: operation, parameters: schema } };
        const components = { schemas: { A: schema } };
        const api = importApi('backend', upstream as never, { openapi, servers, paths, components });
        for (const match of ['GET /a/**', 'GET /**']) {
          const found = api.operationsOf({ match, upstream: 'backend' } as never, 'GET', facts);
          const text = JSON.stringify(found);
          const refs = [...(text ?? '').matchAll(/"\$ref":"([^"]*)"/g)].map(([, ref]) => ref);
          const known = [...Object.keys(found?.[0]?.schemas ?? {}).map((name) => `#/components/schemas/${name}`)];
          for (const ref of refs) if (!ref?.startsWith('#/components/headers/')) expect(known).toContain(ref);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
