import {
  type CallToolResult,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { form } from './asking-tools.ts';
import { states } from './states.ts';

const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });
const ask = (message: string, name: string, type = 'string') =>
  inputRequired.elicit({ message, requestedSchema: form({ [name]: { type } }, [name]) });
const sample = (text: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens });

/** The value that a form was filled in with; undefined when it was not, or with something else. */
function filled(responses: Readonly<Record<string, unknown>> | undefined, key: string, name: string): unknown {
  const { action, content } = (responses?.[key] ?? {}) as { action?: unknown; content?: Record<string, unknown> };
  return action === 'accept' ? content?.[name] : undefined;
}

type Returned = CallToolResult | InputRequiredResult;
type Call = (context: ServerContext) => Returned | Promise<Returned>;

/**
 * Tools that ask the client as revision 2026-07-28 does: the response says what is missing, and the client repeats the
 * call.
 */
export function registerInputTools(server: McpServer): void {
  const register = (name: string, call: Call) =>
    server.registerTool(name, { description: 'Asks for more, then answers' }, call);
  const tool = (name: string, call: Call) => register(`test_input_required_result_${name}`, call);

  /** Asks one question, and returns a result once it is answered. */
  const oneQuestion = (name: string, key: string, question: InputRequest) =>
    tool(name, ({ mcpReq }) => {
      const answer = mcpReq.inputResponses?.[key];
      return answer !== undefined
        ? said(`Got ${JSON.stringify(answer)}`)
        : inputRequired({ inputRequests: { [key]: question } });
    });
  oneQuestion('sampling', 'capital_question', sample('What is the capital of France?', 100));
  oneQuestion('list_roots', 'client_roots', inputRequired.listRoots());
  tool('elicitation', ({ mcpReq }) => {
    const name = filled(mcpReq.inputResponses, 'user_name', 'name');
    if (typeof name === 'string') return said(`Hello, ${name}!`);
    return inputRequired({ inputRequests: { user_name: ask('What is your name?', 'name') } });
  });
  for (const name of ['request_state', 'tampered_state']) {
    tool(name, async ({ mcpReq }) => {
      const state = mcpReq.requestState<{ round: number }>();
      if (state?.round === 1 && filled(mcpReq.inputResponses, 'confirm', 'ok') !== undefined) return said('state-ok');
      return inputRequired({
        inputRequests: { confirm: ask('Please confirm', 'ok', 'boolean') },
        requestState: await states.mint({ round: 1 }),
      });
    });
  }
  tool('multiple_inputs', async ({ mcpReq }) => {
    const questions = {
      user_name: ask('What is your name?', 'name'),
      greeting: sample('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    };
    const answered = Object.keys(questions).every((key) => mcpReq.inputResponses?.[key] !== undefined);
    if (answered && mcpReq.requestState<{ round: number }>()?.round === 1) return said('All are answered.');
    return inputRequired({ inputRequests: questions, requestState: await states.mint({ round: 1 }) });
  });
  tool('multi_round', async ({ mcpReq }) => {
    const round = mcpReq.requestState<{ round: number }>()?.round ?? 0;
    if (round === 2 && filled(mcpReq.inputResponses, 'step2', 'color') !== undefined) return said('Both are answered.');
    const second = round === 2 || (round === 1 && filled(mcpReq.inputResponses, 'step1', 'name') !== undefined);
    return inputRequired({
      inputRequests: second
        ? { step2: ask('Step 2: What is your favorite color?', 'color') }
        : { step1: ask('Step 1: What is your name?', 'name') },
      requestState: await states.mint({ round: second ? 2 : 1 }),
    });
  });
  tool('capabilities', () => {
    const { elicitation, sampling } = server.server.getClientCapabilities() ?? {};
    return inputRequired({
      inputRequests: {
        ...(elicitation === undefined ? {} : { user_name: ask('What is your name?', 'name') }),
        ...(sampling === undefined ? {} : { greeting: sample('Generate a greeting', 50) }),
      },
    });
  });
  // The SDK refuses on our behalf when the client does not support what we ask, as the revision requires.
  register('test_missing_capability', ({ mcpReq }) =>
    mcpReq.inputResponses?.greeting === undefined
      ? inputRequired({ inputRequests: { greeting: sample('Generate a greeting', 50) } })
      : said('There is sampling.'),
  );
  register('test_streaming_elicitation', ({ mcpReq }) => {
    if (typeof filled(mcpReq.inputResponses, 'user_name', 'name') === 'string') return said('Hello.');
    return inputRequired({ inputRequests: { user_name: ask('What is your name?', 'name') } });
  });
}
