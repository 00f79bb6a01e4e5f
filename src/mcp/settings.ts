import { z } from 'zod';
import { MCP } from '../config/constants.ts';
import { text } from '../config/name.ts';
import { roleRule } from '../roles/settings-rule.ts';

/** The intersection of SEP-986 and what assistants accept. */
const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be at most 64 letters, digits, _ and -');
const schema = z.record(z.string(), z.unknown());

const scopes = z.array(z.string()).default([]);

const get = z.strictObject({
  upstream: z.string().min(1),
  path: z.string().regex(/^\/[^\s?#\\;]*$/, 'must be a path such as /api/v1/courses/{slug}, without ?, #, \\ or ;'),
  query: z.record(z.string().min(1), z.string()).default({}),
});

/** SEP-986. */
const server = z.strictObject({
  upstream: z.string().min(1),
  path: z.string().regex(/^\/[^\s?#\\;{}]*$/, 'must be a path such as /wp-json/mcp/school, without ?, #, \\, ; or {}'),
  tool: z.string().regex(/^[A-Za-z0-9_./-]{1,128}$/, 'must be at most 128 letters, digits, _, -, . and /'),
  hash: z
    .string()
    .regex(/^sha256-[A-Za-z0-9_-]{43}$/, 'must be a hash that `coursegate mcp import --server` has written'),
  arguments: z.record(text, z.string()).default({}),
});

const paging = z.strictObject({
  of: text,
  argument: text,
  next: text,
  more: text.optional(),
});

const tool = z
  .strictObject({
    name: toolName,
    title: text.max(80),
    description: text.max(2000),
    input: schema.default({}),
    output: schema.optional(),
    scopes,
    role: roleRule.optional(),
    graphql: text.optional(),
    get: get.optional(),
    route: z.string().optional(),
    server: server.optional(),
    result: schema.optional(),
    paging: paging.optional(),
    approve: z.boolean().default(false),
    dryRun: z.record(text, z.string()).optional(),
    titles: z.record(text, text).default({}),
    card: z.string().min(1).optional(),
    annotations: z
      .strictObject({
        readOnlyHint: z.boolean().optional(),
        destructiveHint: z.boolean().optional(),
        idempotentHint: z.boolean().optional(),
        openWorldHint: z.boolean().optional(),
      })
      .default({}),
  })
  .superRefine((given, context) => {
    const ways = [given.graphql, given.get, given.route, given.server].filter((way) => way !== undefined);
    if (ways.length !== 1)
      context.addIssue({ code: 'custom', message: 'must have exactly one of graphql, get, route and server' });
    if (given.server === undefined && given.annotations.readOnlyHint !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['annotations', 'readOnlyHint'],
        message: 'follows from the request: it is only for tools with `server`',
      });
  });

const resource = z.strictObject({
  uri: z
    .string()
    .regex(
      /^[a-z][a-z0-9+.-]*:\/\/[A-Za-z0-9/._~-]*(\{[A-Za-z0-9_]+\}[A-Za-z0-9/._~-]*)*$/,
      'must be a URI such as course://{slug}',
    ),
  name: toolName,
  title: text.max(80),
  description: text.max(2000).optional(),
  tool: toolName,
});

const prompt = z.strictObject({
  name: toolName,
  title: text.max(80),
  description: text.max(2000).optional(),
  arguments: z
    .array(
      z.strictObject({
        name: toolName,
        description: text.optional(),
        required: z.boolean().default(false),
      }),
    )
    .default([]),
  text: text,
});

/** Origins of hosted and local MCP clients that run in a browser. */
const BROWSER_CLIENTS = [
  'https://claude.ai',
  'https://claude.com',
  'https://chatgpt.com',
  'https://vscode.dev',
  'https://insiders.vscode.dev',
  'http://localhost:*',
  'http://127.0.0.1:*',
  'http://[::1]:*',
];

/** The tool interface for agents (Model Context Protocol). */
export const mcp = z
  .strictObject({
    file: z.string().min(1).optional(),
    skills: z.string().min(1).optional(),
    signIn: z.enum(['never', 'on-call']).default('never'),
    instructions: z.string().max(2000).optional(),
    pseudonyms: z.array(text.max(200)).default([]),
    origins: z.union([z.literal('*'), z.array(z.string().min(1))]).default(BROWSER_CLIENTS),
    tools: z.array(tool).default([]),
    resources: z.array(resource).default([]),
    prompts: z.array(prompt).default([]),
  })
  .transform((given) => ({ ...given, ...MCP }));
