import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { createLog } from '../../src/operations/log.ts';
import { startGateway } from '../../src/process/gateway.ts';
import { folderWith, mistakes, SMALL } from './fixture.ts';

const SCOPED = 'scopes: [account:read], ';
const tool = (rest: string, name = 'a_tool') => `    - { name: ${name}, title: T, description: D, ${rest} }\n`;
const tools = (...lines: string[]) => `${SMALL}mcp:\n  tools:\n${lines.join('')}`;
const PAGED =
  'input: { properties: { at: { type: string }, page: { type: integer } } }, output: { properties: { n: { type: integer }, next: { type: string } } }';
const GET = 'get: { upstream: school, path: /x }';
const AT = 'path: /mcp, tool: a, hash: sha256-EaJF7bAC74b3Ki6ne950nGZMWYHNtoG_0f6BPvDE17I';

describe('a problem in a tool is reported at its position', () => {
  it.each<[string, string]>([
    [tool(''), 'mcp.tools[0]: must have exactly one of graphql, get, route and server'],
    [tool(`${GET}, route: GET /x`), 'mcp.tools[0]: must have exactly one of graphql, get, route and server'],
    [
      tool('get: { upstream: scool, path: /x }'),
      'mcp.tools[0].get.upstream: there is no upstream "scool" (did you mean "school"?)',
    ],
    [
      tool(`scopes: [acount:read], ${GET}`),
      'mcp.tools[0].scopes[0]: there is no scope "acount:read" in the catalogue (did you mean "account:read"?)',
    ],
    [tool(`descripton: D, ${GET}`), 'mcp.tools[0].descripton: unknown key "descripton" (did you mean "description"?)'],
    [tool(GET, '"a tool"'), 'mcp.tools[0].name: must be at most 64 letters, digits, _ and -'],
    [tool(GET) + tool(GET), 'mcp.tools[1].name: is already the name of mcp.tools[0]'],
    [
      tool(
        'get: { upstream: school, path: "/x/{slug}" }, input: { properties: { slg: { type: string } }, required: [slg] }',
      ),
      'mcp.tools[0].get.path: there is no input "slug" (did you mean "slg"?)',
    ],
    [
      tool('get: { upstream: school, path: "/x/{slug}" }, input: { properties: { slug: { type: string } } }'),
      'mcp.tools[0].get.path: needs "slug": name it in input.required',
    ],
    [
      tool('get: { upstream: school, path: /x, query: { q: "{word}" } }'),
      'mcp.tools[0].get.query.q: there is no input "word"',
    ],
    [
      tool('get: { upstream: school, path: "/m/{member.id}" }'),
      'mcp.tools[0].scopes: accesses data of the member, so it needs scopes, such as [account:read]',
    ],
    [
      tool('graphql: "{ viewer { id } }"'),
      'mcp.tools[0].scopes: accesses data of the member, so it needs scopes, such as [account:read]',
    ],
    [
      tool(`server: { upstream: scool, ${AT} }`),
      'mcp.tools[0].server.upstream: there is no upstream "scool" (did you mean "school"?)',
    ],
    [
      tool(`server: { upstream: school, ${AT}, arguments: { user: "{member.id}" } }`),
      'mcp.tools[0].scopes: accesses data of the member, so it needs scopes, such as [account:read]',
    ],
    [
      tool(
        'scopes: [account:read], server: { upstream: school, path: /mcp, tool: "a b", hash: sha256-EaJF7bAC74b3Ki6ne950nGZMWYHNtoG_0f6BPvDE17I }',
      ),
      'mcp.tools[0].server.tool: must be at most 128 letters, digits, _, -, . and /',
    ],
    [
      tool('scopes: [account:read], server: { upstream: school, path: /mcp, tool: a, hash: sha256-short }'),
      'mcp.tools[0].server.hash: must be a hash that `coursegate mcp import --server` has written',
    ],
    [
      tool(`${GET}, annotations: { readOnlyHint: true }`),
      'mcp.tools[0].annotations.readOnlyHint: follows from the request: it is only for tools with `server`',
    ],
    [
      tool(`input: { properties: { memberId: { type: string } } }, ${GET}`),
      'mcp.tools[0].input.properties.memberId: identifies the member, who comes from the token: remove it, and use {member.id} where the id is needed',
    ],
  ])('case %#', async (lines, message) => {
    const found = await mistakes(tools(lines));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^gate\.yaml:\d+:\d+ {2}/);
    expect(found[0]?.replace(/^\S+ +/, '')).toBe(message);
  });

  it('including in a resource, a prompt or the mcp file', async () => {
    const rest =
      '  resources: [{ uri: "a://{x}", name: r, title: R, tool: a_tol }]\n  prompts: [{ name: p, title: P, text: "{x}" }]\n';
    expect((await mistakes(tools(tool(GET)) + rest)).map((line) => line.replace(/^\S+ +/, ''))).toEqual([
      'mcp.resources[0].tool: there is no tool "a_tol" (did you mean "a_tool"?)',
      'mcp.prompts[0].text: there is no argument "x"',
    ]);
    const named = `${SMALL}mcp: { file: tools.yaml }\n`;
    expect(await mistakes(named)).toEqual(['gate.yaml:14:14  mcp.file: cannot read tools.yaml: there is no such file']);
    const file = 'tools:\n  - { name: a, title: T, description: D, get: { upstream: x, path: /x } }\n';
    expect(await mistakes(named, { files: { 'tools.yaml': file } })).toEqual([
      'tools.yaml:2:59  mcp.tools[0].get.upstream: there is no upstream "x"',
    ]);
    expect((await mistakes(named, { files: { 'tools.yaml': 'tools: [' } }))[0]).toMatch(/^tools\.yaml:/);
    expect((await mistakes(named, { files: { 'tools.yaml': 'tools: []\ntool: []\n' } }))[0]).toMatch(
      /^tools\.yaml:2:1 {2}mcp\.tool: unknown key "tool" \(did you mean "tools"\?\)/,
    );
  });
});

describe('problems that are found when the tools are built', () => {
  it.each<[string, string]>([
    [
      tool(`${GET}, input: { properties: { a: { typ: string } } }`),
      'mcp.tools[0].input: is not a valid JSON Schema: unknown keyword: "typ"',
    ],
    [
      tool(`${GET}, input: { properties: { a: { $ref: "http://127.0.0.1/x" } } }`),
      "mcp.tools[0].input: is not a valid JSON Schema: can't resolve reference http://127.0.0.1/x from id #",
    ],
    [
      tool(`${GET}, output: { required: [a] }`),
      'mcp.tools[0].output: is not a valid JSON Schema: required property "a" is not defined at "#" (strictRequired)',
    ],
    [tool(`${GET}, result: { a: data }`), 'mcp.tools[0].result.a: must be a JSON pointer such as /data/title'],
    [
      tool(`${GET}, scopes: [courses:read], approve: true`),
      'mcp.tools[0].approve: is only for tools that change something: this one only reads',
    ],
    [
      tool('route: POST /open, approve: true'),
      'mcp.tools[0].approve: is only for tools with scopes: without a member, nobody could approve',
    ],
    [
      tool(`server: { upstream: school, ${AT} }`),
      'mcp.tools[0].scopes: must name a scope: only a tool with readOnlyHint may be public',
    ],
    [
      tool(
        `server: { upstream: school, ${AT} }, scopes: [courses:read], annotations: { readOnlyHint: true }, approve: true`,
      ),
      'mcp.tools[0].approve: is only for tools that change something: this one only reads',
    ],
    [tool('route: GET /nowhere'), 'mcp.tools[0].route: is a request that no route matches'],
    [
      tool('route: GET /x'),
      'mcp.tools[0].route: is a request that the route serves to members only: name the scopes it needs',
    ],
    [tool(`${SCOPED}route: GET /x`), 'mcp.tools[0].scopes: must have courses:read, which what it does needs'],
    [
      tool(`${GET}, ${PAGED}, result: { b: /b }, paging: { of: a, argument: at, next: next }`),
      'mcp.tools[0].paging.of: is not a name in result',
    ],
    [
      tool(`${GET}, ${PAGED}, paging: { of: a, argument: att, next: next }`),
      'mcp.tools[0].paging.argument: is not an input',
    ],
    [
      tool(`${GET}, ${PAGED}, paging: { of: a, argument: page, next: next }`),
      'mcp.tools[0].paging.argument: must be an input that accepts text',
    ],
    [
      tool(`${GET}, ${PAGED}, paging: { of: a, argument: at, next: nxt }`),
      'mcp.tools[0].paging.next: is not a name in output',
    ],
    [
      tool(`${GET}, ${PAGED}, paging: { of: a, argument: at, next: n }`),
      'mcp.tools[0].paging.next: must be allowed to be a string by output',
    ],
    [
      tool(`${GET}, ${PAGED}, paging: { of: a, argument: at, next: next, more: n }`),
      'mcp.tools[0].paging.more: must be allowed to be a boolean by output',
    ],
    [
      tool(`${SCOPED}graphql: "{ viewer { nothing } }"`),
      'mcp.tools[0].graphql: Cannot query field "nothing" on type "Viewer".',
    ],
    [
      tool(`${SCOPED}graphql: "query ($n: Int!) { viewer { orders(first: $n) { totalCount } } }"`),
      'mcp.tools[0].graphql: needs $n: name it in input.required',
    ],
    [
      tool(`scopes: [courses:read], graphql: "{ viewer { id } }"`),
      'mcp.tools[0].scopes: must have account:read, which what it does needs',
    ],
    [
      tool(
        `${SCOPED}graphql: 'mutation { savePlaybackPosition(input: { courseSlug: "a", lectureId: 1, positionSeconds: 1 }) { courseSlug } }'`,
      ),
      'mcp.tools[0].scopes: must have account:write, which what it does needs',
    ],
    [
      tool(`${SCOPED}graphql: "{ viewer { id } }", input: { properties: { n: { type: integer } } }`),
      'mcp.tools[0].graphql: has no variable $n for the input of that name',
    ],
  ])('case %#', async (lines, message) => {
    const folder = await folderWith({ 'tools.yaml': `tools:\n${lines}` });
    const loaded = await loadConfig({
      file: fileURLToPath(new URL('../../config/coursegate.yaml', import.meta.url)),
      environment: { COURSEGATE_PROFILE: 'A' },
      overrides: {
        store: { kind: 'memory' },
        listen: { port: 0, admin: { port: 0 } },
        mcp: { file: `${folder}/tools.yaml` },
        routes: [
          { match: 'GET /x', upstream: 'school', scopes: ['courses:read'] },
          { match: 'POST /open', upstream: 'school', scopes: [], anonymous: 'serve' },
        ],
      },
    });
    const started = startGateway({ loaded, log: createLog('silent', 2), clock: Date.now });
    const thrown = await started.then(
      (gateway) => gateway.close(0),
      (error: unknown) => error,
    );
    const [line = ''] = String((thrown as Error).message).split('\n');
    expect(line).toMatch(/tools\.yaml:2:\d+ {2}/);
    expect(line.replace(/^\S+ +/, '')).toBe(message);
  });
});
