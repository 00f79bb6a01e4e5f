import { z } from 'zod';
import { routeLimits } from './limits.ts';
import { duration, size } from './units.ts';

/** SEP-986, and what assistants take: letters, digits, _ and -, at most 64. */
const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be at most 64 letters, digits, _ and -');
const text = z.string().min(1);
const schema = z.record(z.string(), z.unknown());

const scopes = z.array(z.string()).default([]).meta({
  description: 'The scopes a token needs for it; []: everybody may use it, without a token too.',
});

const get = z.strictObject({
  upstream: z.string().min(1).meta({ description: 'A name in upstreams.' }),
  path: z
    .string()
    .regex(/^\/[^\s?#\\;]*$/, 'must be a path such as /api/v1/courses/{slug}, without ?, #, \\ or ;')
    .meta({ description: 'Where it asks. A whole part may be an input, {slug}, or {member.id}.' }),
  query: z
    .record(z.string().min(1), z.string())
    .default({})
    .meta({ description: 'Query parameters: a text, or an input such as "{page}"; left out when that is not given.' }),
});

const paging = z.strictObject({
  of: text.meta({ description: 'The list or the text of the result that is cut: a name of `result`.' }),
  argument: text.meta({ description: 'The input that takes where to go on; it must take a text.' }),
  next: text.meta({ description: 'The name in the result that says where to go on; it must take a text.' }),
  more: text.optional().meta({ description: 'The name in the result that says whether there is more.' }),
});

const tool = z
  .strictObject({
    name: toolName.meta({ description: 'What models call it by.' }),
    title: text.max(80).meta({ description: 'What people call it.' }),
    description: text.max(2000).meta({ description: 'What the model reads when it chooses: what it does and gives.' }),
    input: schema.default({}).meta({
      description: 'JSON Schema of the arguments. Never who the member is: that comes from the token alone.',
    }),
    output: schema.optional().meta({ description: 'JSON Schema of the result; each result is held to it.' }),
    scopes,
    graphql: text.optional().meta({
      description: 'What it does: a document of the Account API, whose variables are the arguments.',
    }),
    get: get.optional().meta({ description: 'What it does: a GET at an upstream.' }),
    route: z
      .string()
      .optional()
      .meta({ description: 'What it does: the method and path of a request that a route takes, inputs as {name}.' }),
    result: schema.optional().meta({
      description:
        'The result, made from the answer: names and JSON pointers into it; { each: pointer, … } makes a list.',
    }),
    paging: paging.optional().meta({
      description:
        'How a result that is too long is told in parts: nothing of it is lost. Without: lists and texts are shortened, and the result says so.',
    }),
    annotations: z
      .strictObject({
        destructiveHint: z.boolean().optional().meta({ description: 'It may take something away.' }),
        idempotentHint: z.boolean().optional().meta({ description: 'Called twice alike it does no more than once.' }),
        openWorldHint: z.boolean().optional().meta({ description: 'It reaches beyond the school.' }),
      })
      .default({})
      .meta({
        description: 'What else a client may tell its user. Whether it only reads is known from what it does.',
      }),
  })
  .superRefine((given, context) => {
    const ways = [given.graphql, given.get, given.route].filter((way) => way !== undefined);
    if (ways.length !== 1) context.addIssue({ code: 'custom', message: 'must have one of graphql, get, route' });
  });

const resource = z.strictObject({
  uri: z
    .string()
    .regex(
      /^[a-z][a-z0-9+.-]*:\/\/[A-Za-z0-9/._~-]*(\{[A-Za-z0-9_]+\}[A-Za-z0-9/._~-]*)*$/,
      'must be a URI such as course://{slug}',
    )
    .meta({ description: 'Its address. With an input of the tool, {slug}, it is a template.' }),
  name: toolName.meta({ description: 'What models call it by.' }),
  title: text.max(80).meta({ description: 'What people call it.' }),
  description: text.max(2000).optional().meta({ description: 'What it holds.' }),
  tool: toolName.meta({ description: 'The tool that reads it, with the parts of the address as its arguments.' }),
});

const prompt = z.strictObject({
  name: toolName.meta({ description: 'What clients call it by.' }),
  title: text.max(80).meta({ description: 'What people choose it by.' }),
  description: text.max(2000).optional().meta({ description: 'What it is for.' }),
  arguments: z
    .array(
      z.strictObject({
        name: toolName.meta({ description: 'As {name} in the text.' }),
        description: text.optional().meta({ description: 'What is asked for.' }),
        required: z.boolean().default(false).meta({ description: 'Whether it must be given.' }),
      }),
    )
    .default([])
    .meta({ description: 'What the member is asked for.' }),
  text: text.meta({ description: 'What the member would say. {name} is that argument.' }),
});

/** Hosted and local clients that run in a browser. */
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
export const mcp = z.strictObject({
  file: z.string().min(1).optional().meta({
    description: 'A YAML file with tools, resources and prompts, in the form they have here.',
  }),
  signIn: z.enum(['never', 'on-call']).default('never').meta({
    description:
      'never: without a token there are the public tools only, and no challenge. on-call: everybody sees all tools, and the call of one that needs a member is challenged.',
  }),
  challengeInResult: z
    .array(z.string().min(1))
    .default(['openai-mcp', 'chatgpt'])
    .meta({ description: 'on-call: clients (part of their name or User-Agent) that read a challenge in the result.' }),
  instructions: z.string().max(2000).optional().meta({ description: 'What a model is told of all tools together.' }),
  hosts: z.array(z.string().min(1)).default([]).meta({
    description: 'Host fields that are taken besides that of the origin, such as what a proxy in front sends.',
  }),
  origins: z
    .union([z.literal('*'), z.array(z.string().min(1))])
    .default(BROWSER_CLIENTS)
    .meta({ description: 'Pages of which origins may call it; a port may be *. "*": all. The own origin always may.' }),
  bodyLimit: size.prefault('1MiB').meta({ description: 'The largest request body.' }),
  deadline: duration.prefault('20s').meta({ description: 'For one call of a tool.' }),
  idempotencyWindow: duration.prefault('1h').meta({
    description: 'How long a call of a tool that changes something is known again by its idempotency key.',
  }),
  idempotencyKeys: z.int().min(1).default(250).meta({
    description: 'The most keys of one member within that window; a whole result is kept of each.',
  }),
  longestText: z.int().min(100).default(8000).meta({ description: 'Characters of one text in a result.' }),
  largestResult: size
    .prefault('64KiB')
    .meta({ description: 'The largest result of a tool; clients cut beyond 25,000 tokens.' }),
  limits: routeLimits.limits,
  tools: z.array(tool).default([]).meta({ description: 'What a model may call.' }),
  resources: z.array(resource).default([]).meta({ description: 'What a client may read by an address.' }),
  prompts: z.array(prompt).default([]).meta({ description: 'What a member may choose to begin with.' }),
});
