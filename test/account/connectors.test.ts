import { afterEach, describe, expect, test } from 'vitest';
import { MappingError } from '../../src/account/connect/mistakes.ts';
import { MEMBER } from './support/account.ts';
import { type MappedService, mapService } from './support/service.ts';

let service: MappedService | undefined;
afterEach(() => service?.close());

const start: typeof mapService = async (...args) => {
  service = await mapService(...args);
  return service;
};

const mistakes = async (...args: Parameters<typeof mapService>): Promise<string[]> => {
  try {
    await start(...args);
  } catch (thrown) {
    if (!(thrown instanceof MappingError)) throw thrown;
    return thrown.mistakes.map(({ coordinate, message }) => `${coordinate}: ${message}`);
  }
  return [];
};

const quietly = () => ({ json: {} });

describe('a request to a REST upstream', () => {
  const types = 'type Viewer { id: ID!  notes(about: String, tags: [String!]): [String!] }';
  const connect = (http: string) =>
    `extend type Viewer { notes: [String!] @connect(source: "school", http: ${http}, selection: "$.notes") }`;

  test('can be a reading POST with a JSON body of arguments, the member and literals', async () => {
    const { ask, seen } = await start(
      types,
      connect(`{ POST: "/search", body: """
        query: { about: $args.about  tags: $args.tags }
        "for": $context.sub
        limit: $(20)
        kinds: $(["note", "todo"])
      """ }`),
      () => ({ json: { notes: ['a'] } }),
    );
    const { body } = await ask('{ viewer { notes(about: "x\\"y", tags: ["p"]) } }');
    expect(body).toEqual({ data: { viewer: { notes: ['a'] } } });
    expect(seen.map(({ method, type }) => [method, type])).toEqual([['POST', 'application/json']]);
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
      query: { about: 'x"y', tags: ['p'] },
      for: 'm-1001',
      limit: 20,
      kinds: ['note', 'todo'],
    });
  });

  test('can be a form when the mapping says so', async () => {
    const { ask, seen } = await start(
      types,
      connect(`{ POST: "/server.php", body: """ "wsfunction": $("core")  "options[ids][0]": $args.about  tags: $args.tags """,
        headers: [{ name: "Content-Type", value: "application/x-www-form-urlencoded" }] }`),
      () => ({ json: { notes: [] } }),
    );
    await ask('{ viewer { notes(about: "a&b=c", tags: ["1", "2"]) } }');
    expect(seen[0]).toMatchObject({
      type: 'application/x-www-form-urlencoded',
      body: 'wsfunction=core&options%5Bids%5D%5B0%5D=a%26b%3Dc&tags=1&tags=2',
    });
  });

  test('is sent once for equal bodies, and again for another body', async () => {
    const { ask, seen } = await start(
      types,
      connect('{ POST: "/s", body: "about: $args.about tags: $args.tags" }'),
      () => ({
        json: { notes: [] },
      }),
    );
    await ask(
      '{ viewer { a: notes(about: "1", tags: []) b: notes(about: "1", tags: []) c: notes(about: "2", tags: []) } }',
    );
    expect(seen.map(({ body }) => body)).toEqual(['{"about":"1","tags":[]}', '{"about":"2","tags":[]}']);
  });

  test('can contain $config values, including secrets', async () => {
    const { ask, seen } = await start(
      types,
      connect(
        '{ GET: "/notes/{$args.about}", queryParams: "tag: $args.tags  site: $config.site  key: $config.key", headers: [{ name: "x-key", value: "k {$config.key}" }] }',
      ),
      () => ({ json: { notes: [] } }),
      { config: { open: { site: 7 }, secret: { key: 's3cret' } } },
    );
    const { text } = await ask('{ viewer { notes(about: "a", tags: []) } }');
    expect(seen[0]?.url.search).toBe('?site=7&key=s3cret');
    expect(seen[0]?.headers['x-key']).toBe('k s3cret');
    expect(text).not.toContain('s3cret');
  });

  test.each<[string, string, string]>([
    ['two methods', '{ GET: "/a", POST: "/b" }', 'http needs exactly one of GET, POST'],
    ['no method', '{ queryParams: "a: $args.about" }', 'http needs exactly one of GET, POST'],
    [
      'a method that writes',
      '{ DELETE: "/a/{$args.about}" }',
      'only GET or POST can be used to read; DELETE is for mutations',
    ],
    ['a body of a GET', '{ GET: "/a", body: "a: $args.about" }', 'GET requests have no body'],
    ['data in a body', '{ POST: "/a", body: "a: b" }', 'there is no data to read here'],
    [
      'a form that is not an object',
      '{ POST: "/a", body: "$args.about", headers: [{ name: "content-type", value: "application/x-www-form-urlencoded" }] }',
      'body are "name: value"',
    ],
    ['an unknown $config', '{ GET: "/{$config.nope}" }', '$config has no nope, only currency'],
    ['$this of the root', '{ GET: "/{$this.nope}" }', '$this has no nope, only id, notes'],
    ['$status in a call', '{ GET: "/{$status}" }', '$status is not available here'],
  ])('cannot have %s', async (_name, http, said) => {
    expect((await mistakes(types, connect(http), quietly)).join('\n')).toContain(said);
  });

  test('cannot put a secret into what a client reads', async () => {
    const mapping = `extend type Viewer { notes: [String!] @connect(source: "school", http: { GET: "/n/{$args.about}", queryParams: "t: $args.tags" }, selection: "$config.key") }`;
    const options = { config: { open: { site: 1 }, secret: { key: 's' } } };
    expect(await mistakes(types, mapping, quietly, options)).toEqual(['Viewer.notes: $config has no key, only site']);
  });

  test('can use the fields of an input', async () => {
    const input = 'input Where { about: String  not: Where }\ntype Viewer { id: ID!  notes(where: Where): [String!] }';
    const { ask, seen } = await start(input, connect('{ GET: "/n", queryParams: "a: $args.where.not.about" }'), () => ({
      json: { notes: [] },
    }));
    await ask('{ viewer { notes(where: { not: { about: "x" } }) } }');
    expect(seen[0]?.url.search).toBe('?a=x');
    expect(await mistakes(input, connect('{ GET: "/n", queryParams: "a: $args.where.not.abut" }'), quietly)).toEqual([
      'Viewer.notes: $args.where.not has no abut, only about, not',
    ]);
  });
});

describe('a request with $this', () => {
  const types = `type Viewer { id: ID!  courses: [Course!] }
    type Course { slug: String!  title: String  teacher: Teacher  reviews: [String!] }
    type Teacher { name: String }`;
  const mapping = (field = '') => `extend type Viewer {
      courses: [Course!] @connect(source: "school", http: { GET: "/courses" }, selection: "$.courses { slug title }") }
    extend type Course {
      teacher: Teacher @connect(source: "school", http: { GET: "/courses/{$this.slug}/teacher" }, selection: "name: $.name")
      reviews: [String!] @connect(source: "school", http: { GET: "/reviews/{${field || '$this.title'}}" }, selection: "$.texts") }`;

  test('can use fields that the client did not request, and is sent once for equal values', async () => {
    const { ask, seen } = await start(types, mapping(), ({ url }) => {
      if (url.pathname === '/courses')
        return {
          json: {
            courses: [
              { slug: 'a', title: 'T' },
              { slug: 'b', title: 'T' },
            ],
          },
        };
      return { json: url.pathname.startsWith('/reviews') ? { texts: ['good'] } : { name: url.pathname } };
    });
    const { body } = await ask('{ viewer { courses { teacher { name } reviews } } }');
    expect(body.data.viewer.courses).toEqual([
      { teacher: { name: '/courses/a/teacher' }, reviews: ['good'] },
      { teacher: { name: '/courses/b/teacher' }, reviews: ['good'] },
    ]);
    expect(seen.map(({ url }) => url.pathname).sort()).toEqual([
      '/courses',
      '/courses/a/teacher',
      '/courses/b/teacher',
      '/reviews/T',
    ]);
  });

  test('that has an unusable value in its path is an upstream error of that field only', async () => {
    const { ask, seen } = await start(types, mapping(), ({ url }) =>
      url.pathname === '/courses' ? { json: { courses: [{ slug: '..', title: 'a/b' }] } } : { json: {} },
    );
    const { body } = await ask('{ viewer { courses { slug teacher { name } reviews } } }');
    expect(body.data.viewer.courses).toEqual([{ slug: '..', teacher: null, reviews: null }]);
    expect(body.errors.map((error: { extensions: object }) => error.extensions)).toEqual([
      { code: 'UPSTREAM_BAD_RESPONSE' },
      { code: 'UPSTREAM_BAD_RESPONSE' },
    ]);
    expect(seen.length).toBe(1);
  });

  test('cannot use a field that comes from another call', async () => {
    expect(await mistakes(types, mapping('$this.teacher'), quietly)).toContain(
      'Course.reviews: $this.teacher comes from its own @connect, which may not have responded yet',
    );
  });
});

describe('isSuccess and errors', () => {
  const types = 'type Viewer { id: ID!  name: String }';
  const of = (more: string, source = '') => `extend schema @source(name: "school" ${source})
    extend type Viewer { name: String @connect(source: "school", http: { GET: "/me" }, selection: "$.name" ${more}) }`;
  const moodle = 'isSuccess: "$.exception->isNull"';
  const failed = { json: { exception: 'invalid_token', message: 'Bad\ntoken\u0000', debug: 'at db-7' } };

  test('make a 200 with an error in it a failure', async () => {
    const { ask } = await start(types, of(moodle), () => failed);
    const { body, text } = await ask('{ viewer { id name } }');
    expect(body).toMatchObject({
      data: { viewer: { id: 'm-1001', name: null } },
      errors: [{ message: 'The service behind this field returned an error.', extensions: { code: 'UPSTREAM_ERROR' } }],
    });
    expect(text).not.toMatch(/invalid_token|db-7/);
  });

  test('can define what a client sees: cleaned text, scalars, and a code in capitals', async () => {
    const errors =
      'errors: { message: "$.message", extensions: "code: $(\\"BAD_TOKEN\\") reason: $.exception status: $status all: $" }';
    const { ask } = await start(types, of(`${moodle} ${errors}`), () => failed);
    const [error] = (await ask('{ viewer { name } }')).body.errors;
    expect(error.message).toBe('Bad token');
    expect(error.extensions).toEqual({ code: 'BAD_TOKEN', reason: 'invalid_token', status: 200 });
  });

  test('of a source word the errors of a field with its own isSuccess', async () => {
    const source = 'errors: { message: "$.message", extensions: "reason: $.exception" }';
    const { ask } = await start(types, of(moodle, source), () => failed);
    const [error] = (await ask('{ viewer { name } }')).body.errors;
    expect(error.message).toBe('Bad token');
    expect(error.extensions).toEqual({ code: 'UPSTREAM_ERROR', reason: 'invalid_token' });
  });

  test('leave out a code in an invalid format', async () => {
    const { ask } = await start(types, of(`${moodle} errors: { extensions: "code: $.exception" }`), () => failed);
    expect((await ask('{ viewer { name } }')).body.errors[0].extensions).toEqual({ code: 'UPSTREAM_ERROR' });
  });

  test('can make a status other than 2xx a success', async () => {
    const { ask } = await start(types, of('isSuccess: "$status->in([200, 404])"'), () => ({
      status: 404,
      json: { name: 'A' },
    }));
    expect((await ask('{ viewer { name } }')).body).toEqual({ data: { viewer: { name: 'A' } } });
  });

  test('can make a 404 mean that there is nothing, with JSON or without', async () => {
    const accepting = of('isSuccess: "$.exception->isNull->and($status->in([200, 404]))"');
    const { ask } = await start(types, accepting, () => ({ status: 404, text: '<h1>Not found</h1>' }));
    expect((await ask('{ viewer { name } }')).body).toEqual({ data: { viewer: { name: null } } });
    await service?.close();
    const json = await start(types, accepting, () => ({ status: 404, json: { message: 'none' } }));
    expect((await json.ask('{ viewer { name } }')).body).toEqual({ data: { viewer: { name: null } } });
  });

  test('can be set for a source, and overridden by a field', async () => {
    const { ask } = await start(types, of('', moodle), () => failed);
    expect((await ask('{ viewer { name } }')).body.errors[0].extensions.code).toBe('UPSTREAM_ERROR');
    await service?.close();
    const own = await start(types, of('isSuccess: "$status->eq(200)"', moodle), () => failed);
    expect((await own.ask('{ viewer { name } }')).body).toEqual({ data: { viewer: { name: null } } });
  });

  test('are evaluated separately for two fields that read the same response', async () => {
    const both = `extend schema @source(name: "school")
      extend type Viewer {
        name: String @connect(source: "school", http: { GET: "/me" }, selection: "$.exception", isSuccess: "$status->eq(200)")
        nick: String @connect(source: "school", http: { GET: "/me" }, selection: "$.message", ${moodle}) }`;
    const { ask, seen } = await start('type Viewer { id: ID!  name: String  nick: String }', both, () => failed);
    const { body } = await ask('{ viewer { name nick } }');
    expect(body.data.viewer).toEqual({ name: 'invalid_token', nick: null });
    expect(seen.length).toBe(1);
  });

  test('fail for any value but true, and for a response that is not JSON', async () => {
    const { ask } = await start(types, of('isSuccess: "$.name"'), () => ({ json: { name: 'A' } }));
    expect((await ask('{ viewer { name } }')).body.errors[0].extensions.code).toBe('UPSTREAM_ERROR');
    await service?.close();
    const html = await start(types, of('isSuccess: "$status->eq(200)"'), () => ({ status: 200, text: '<html>' }));
    expect((await html.ask('{ viewer { name } }')).body.errors[0].extensions.code).toBe('UPSTREAM_BAD_RESPONSE');
  });

  test.each<[string, string]>([
    ['isSuccess: "a b"', 'isSuccess is an expression'],
    ['errors: { extensions: "$.x" }', 'errors.extensions are "name: value"'],
    ['errors: { message: "m: $.x" }', 'errors.message is an expression'],
    ['isSuccess: "$status.code->eq(1)"', ''],
    ['isSuccess: "$nope->eq(1)"', 'there is no variable $nope'],
  ])('report the mistake: %s', async (more, said) => {
    expect((await mistakes(types, of(more), quietly)).join('\n')).toContain(said);
  });
});

describe('mutations', () => {
  const types = `
    type Mutation {
      save(input: SaveInput!): Saved @requiresScopes(scopes: [["account:write"]])
      drop(id: ID!): Saved @requiresScopes(scopes: [["account:write"]])
    }
    input SaveInput { slug: String!  seconds: Int! }
    type Saved { slug: String  seconds: Int }
    type Viewer { id: ID! }`;
  const mapping = `extend type Mutation {
    save: Saved @connect(source: "school", http: { PUT: "/positions/{$args.input.slug}", body: "ms: $args.input.seconds->mul(1000)" },
      selection: "slug: $args.input.slug  seconds: ms->div(1000)->floor")
    drop: Saved @connect(source: "school", http: { DELETE: "/positions/{$args.id}" }, selection: "slug: $args.id  seconds: $(0)") }`;
  const writer = { ...MEMBER, scope: new Set(['account:read', 'account:write']) };
  const SAVE = 'mutation ($input: SaveInput!) { save(input: $input) { slug seconds } }';
  const input = { slug: 'a b', seconds: 12 };
  const echo = ({ body }: { body: string }) => ({ status: body === '' ? 204 : 200, text: body });

  test('write what the member may write, and return the new state', async () => {
    const { ask, seen } = await start(types, mapping, echo, { principal: writer });
    expect((await ask(SAVE, { input })).body).toEqual({ data: { save: { slug: 'a b', seconds: 12 } } });
    expect((await ask('mutation { drop(id: "x") { slug } }')).body).toEqual({ data: { drop: { slug: 'x' } } });
    expect(seen.map(({ method, url, body }) => [method, url.pathname, body])).toEqual([
      ['PUT', '/positions/a%20b', '{"ms":12000}'],
      ['DELETE', '/positions/x', ''],
    ]);
  });

  test('run in order, each as often as it is written', async () => {
    const { ask, seen } = await start(types, mapping, echo, { principal: writer });
    await ask('mutation { a: drop(id: "x") { slug } b: drop(id: "x") { slug } c: drop(id: "y") { slug } }');
    expect(seen.map(({ url }) => url.pathname)).toEqual(['/positions/x', '/positions/x', '/positions/y']);
  });

  test('are not run without the scope: 403 with the scopes to request', async () => {
    const { ask, seen } = await start(types, mapping, echo);
    const reply = await ask(SAVE, { input });
    expect(reply.status).toBe(403);
    expect(reply.headers.get('www-authenticate')).toBe(
      'Bearer error="insufficient_scope", error_description="the access token lacks a scope that is needed here", resource_metadata="https://school.example/.well-known/oauth-protected-resource", scope="account:read account:write"',
    );
    expect(reply.body.errors[0].extensions.code).toBe('UNAUTHORIZED_FIELD_OR_TYPE');
    expect(reply.headers.get('cache-control')).toBe('no-store');
    for (const query of [
      'mutation { x: drop(id: "1") { slug } }',
      'mutation { ...F } fragment F on Mutation { ... { drop(id: "1") { slug } } }',
    ]) {
      expect((await ask(query)).status).toBe(403);
    }
    expect(seen).toEqual([]);
  });

  test('challenge a DPoP token with the scheme DPoP', async () => {
    const { url } = await start(types, mapping, echo);
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'DPoP bound-token' },
      body: JSON.stringify({ query: 'mutation { drop(id: "1") { slug } }' }),
    });
    expect(answer.status).toBe(403);
    expect(answer.headers.get('www-authenticate')).toMatch(/^DPoP error="insufficient_scope", .*algs="ES256 /);
  });

  test.each([
    [400, 'BAD_USER_INPUT'],
    [404, 'NOT_FOUND'],
    [409, 'BAD_USER_INPUT'],
    [422, 'BAD_USER_INPUT'],
    [401, 'UPSTREAM_ERROR'],
    [500, 'UPSTREAM_ERROR'],
  ])('return, when the service responds with %i: %s', async (status, code) => {
    const { ask } = await start(types, mapping, () => ({ status, json: { error: 'no' } }), { principal: writer });
    const { body } = await ask(SAVE, { input });
    expect(body.data).toEqual({ save: null });
    expect(body.errors[0].extensions).toEqual({ code });
  });

  test('are not repeated after a failure', async () => {
    const { ask, seen } = await start(types, mapping, () => ({ status: 503, text: '' }), { principal: writer });
    await ask(SAVE, { input });
    expect(seen.length).toBe(1);
  });

  test('are refused before any call when an argument would leave its path segment', async () => {
    const { ask, seen } = await start(types, mapping, echo, { principal: writer });
    for (const slug of ['..', '.', '', 'a/b', 'a\\b', 'a\u0000']) {
      const { body } = await ask(SAVE, { input: { slug, seconds: 1 } });
      expect(body.errors[0].extensions).toEqual({ code: 'BAD_USER_INPUT' });
    }
    expect(seen).toEqual([]);
  });

  test('need a @connect for each field, without paging and without $this', async () => {
    expect(await mistakes(types, mapping.replace(/drop: [^}]*}[^}]*}/, '}'), quietly)).not.toEqual([]);
    const paged = mapping.replace('seconds: $(0)")', 'seconds: $(0)") @connection(style: ALL, nodes: "$")');
    expect((await mistakes(types, paged, quietly)).join()).toContain('a mutation cannot be a connection');
    const sibling = mapping.replace('/positions/{$args.id}', '/positions/{$this.save}');
    expect((await mistakes(types, sibling, quietly)).join()).toContain('$this is not available here');
  });
});
