import { z } from 'zod';
import { MCP } from '../config/constants.ts';
import { text } from '../config/name.ts';

/** The intersection of SEP-986 and what assistants accept. */
const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be at most 64 letters, digits, _ and -');
const schema = z.record(z.string(), z.unknown());

const scopes = z.array(z.string()).default([]).meta({
  description: 'Scopes a token needs to call it. With [], anyone may call it, even without a token.',
});

const get = z.strictObject({
  upstream: z.string().min(1).describe('A name in `upstreams`.'),
  path: z
    .string()
    .regex(/^\/[^\s?#\\;]*$/, 'must be a path such as /api/v1/courses/{slug}, without ?, #, \\ or ;')
    .describe('Path of the request. A path segment may be an input, such as {slug}, or {member.id}.'),
  query: z.record(z.string().min(1), z.string()).default({}).meta({
    description:
      'Query parameters: fixed text, or an input such as "{page}". A parameter whose input is not given is omitted.',
  }),
});

const paging = z.strictObject({
  of: text.describe('Property of `result` that is split into pages: a list or a text.'),
  argument: text.describe('Input that takes the position to continue from. It must accept text.'),
  next: text.describe('Property of the result that returns the position to continue from. It must accept text.'),
  more: text.optional().describe('Property of the result that says whether there is more.'),
});

const tool = z
  .strictObject({
    name: toolName.describe('Name that models call it by.'),
    title: text.max(80).describe('Name shown to people.'),
    description: text
      .max(2000)
      .describe('What the model reads to decide whether to call it: what it does and what it returns.'),
    input: schema.default({}).meta({
      description:
        'JSON Schema of the arguments. It must not include the member’s identity, which comes from the token only.',
    }),
    output: schema.optional().describe('JSON Schema of the result. Every result is validated against it.'),
    scopes,
    graphql: text
      .optional()
      .describe('Runs a GraphQL document of the Account API, with the arguments as its variables.'),
    get: get.optional().describe('Sends a GET request to an upstream.'),
    route: z.string().optional().meta({
      description: 'Sends a request to one of the `routes`: its method and path, with inputs as {name}.',
    }),
    result: schema.optional().meta({
      description:
        'How the result is built from the response: property names with JSON pointers into it. { each: pointer, … } makes a list.',
    }),
    paging: paging.optional().meta({
      description:
        'How a result that is too long is returned in pages, so that nothing is lost. If omitted, lists and texts are truncated, and the result says so.',
    }),
    annotations: z
      .strictObject({
        destructiveHint: z.boolean().optional().describe('It may delete something.'),
        idempotentHint: z.boolean().optional().meta({
          description: 'Calling it again with the same arguments has no further effect.',
        }),
        openWorldHint: z.boolean().optional().describe('It interacts with systems outside the school.'),
      })
      .default({})
      .describe('Hints that clients may show to their users. `readOnlyHint` is derived from what the tool does.'),
  })
  .superRefine((given, context) => {
    const ways = [given.graphql, given.get, given.route].filter((way) => way !== undefined);
    if (ways.length !== 1)
      context.addIssue({ code: 'custom', message: 'must have exactly one of graphql, get and route' });
  });

const resource = z.strictObject({
  uri: z
    .string()
    .regex(
      /^[a-z][a-z0-9+.-]*:\/\/[A-Za-z0-9/._~-]*(\{[A-Za-z0-9_]+\}[A-Za-z0-9/._~-]*)*$/,
      'must be a URI such as course://{slug}',
    )
    .describe('URI of the resource. With an input of the tool, such as {slug}, it is a template.'),
  name: toolName.describe('Name that models use for it.'),
  title: text.max(80).describe('Name shown to people.'),
  description: text.max(2000).optional().describe('What it contains.'),
  tool: toolName.describe('Tool that reads it. The variable parts of the URI are its arguments.'),
});

const prompt = z.strictObject({
  name: toolName.describe('Name that clients use for it.'),
  title: text.max(80).describe('Name shown to people.'),
  description: text.max(2000).optional().describe('What it is for.'),
  arguments: z
    .array(
      z.strictObject({
        name: toolName.describe('Name of the argument, used as {name} in `text`.'),
        description: text.optional().describe('What the member is asked for.'),
        required: z.boolean().default(false).describe('Whether it is required.'),
      }),
    )
    .default([])
    .describe('Arguments that the member fills in.'),
  text: text.describe('Message sent in the member’s name. {name} is replaced by that argument.'),
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
    file: z.string().min(1).optional().meta({
      description: 'YAML file with `tools`, `resources` and `prompts`, in the same form as here.',
    }),
    signIn: z.enum(['never', 'on-call']).default('never').meta({
      description:
        '`never`: without a token only the public tools are listed, and nothing is challenged. `on-call`: they are all listed, and calling one that needs a member gets a challenge. Signed-in members are listed all tools in both modes.',
    }),
    instructions: z.string().max(2000).optional().describe('What models are told about the tools as a whole.'),
    origins: z
      .union([z.literal('*'), z.array(z.string().min(1))])
      .default(BROWSER_CLIENTS)
      .describe(
        'Web origins whose pages may call the endpoint. A port may be *; "*" allows all. The gate’s own origin is always allowed.',
      ),
    tools: z.array(tool).default([]).describe('Tools that models can call.'),
    resources: z.array(resource).default([]).describe('Resources that clients can read by URI.'),
    prompts: z.array(prompt).default([]).describe('Prompts that members can start a conversation with.'),
  })
  .transform((given) => ({ ...given, ...MCP }));
