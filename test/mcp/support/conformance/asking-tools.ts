import {
  type CallToolResult,
  type ElicitRequestFormParams,
  fromJsonSchema,
  type McpServer,
} from '@modelcontextprotocol/server';

const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

const string = { type: 'string' } as const;
const choices = (value: string) =>
  ['First', 'Second', 'Third'].map((word, at) => ({ const: `${value}${at + 1}`, title: word }));

const FORMS = {
  test_elicitation_sep1034_defaults: {
    name: { ...string, default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { ...string, enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
  test_elicitation_sep1330_enums: {
    untitledSingle: { ...string, enum: ['option1', 'option2', 'option3'] },
    titledSingle: { ...string, oneOf: choices('value') },
    legacyEnum: { ...string, enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
    untitledMulti: { type: 'array', items: { ...string, enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: choices('value') } },
  },
} as const;

const oneArgument = (name: string) =>
  fromJsonSchema<Record<string, string>>({ type: 'object', properties: { [name]: string }, required: [name] });

/** The schema of a form that a client is asked to fill in, from its properties and those that are required. */
export function form(properties: object, required: readonly string[]): ElicitRequestFormParams['requestedSchema'] {
  return { type: 'object', properties, required } as ElicitRequestFormParams['requestedSchema'];
}

/**
 * Tools that ask the client during a call, as the revisions before 2026-07-28 do: by a request from the server. When
 * the client's capabilities are unknown, which is always so without sessions, the tool does not ask and fails, as the
 * suite expects.
 */
export function registerAskingTools(server: McpServer): void {
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model of the client', inputSchema: oneArgument('prompt') },
    async ({ prompt = '' }, { mcpReq }) => {
      if (server.server.getClientCapabilities()?.sampling === undefined) throw new Error('The client has no sampling.');
      const content = { type: 'text' as const, text: prompt };
      const answer = await mcpReq.requestSampling({ messages: [{ role: 'user', content }], maxTokens: 100 });
      return said(`LLM response: ${JSON.stringify(answer.content)}`);
    },
  );
  server.registerTool(
    'test_elicitation',
    { description: 'Asks the person at the client', inputSchema: oneArgument('message') },
    async ({ message = '' }, { mcpReq }) => {
      const requestedSchema = form({ username: string, email: string }, ['username', 'email']);
      const answer = await mcpReq.elicitInput({ message, requestedSchema });
      return said(`User response: ${JSON.stringify(answer)}`);
    },
  );
  for (const [name, properties] of Object.entries(FORMS)) {
    server.registerTool(name, { description: 'Asks the person at the client' }, async ({ mcpReq }) => {
      const { action, content } = await mcpReq.elicitInput({
        message: 'Fill this',
        requestedSchema: form(properties, []),
      });
      return said(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
    });
  }
}
