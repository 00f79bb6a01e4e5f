import type { JsonObject } from '../../../http/json-object.ts';
import { callTool, type ToolCall } from '../../doctor/directory/calls.ts';
import { type ListedTool, needsMember, type ToolServer } from '../../doctor/directory/tools.ts';
import { filled } from '../../texts.ts';
import { promptFor } from './prompt.ts';
import texts from './texts.json' with { type: 'json' };

/** A test case of OpenAI's submission, and whether its call did what it says: undefined if it was not run. */
export interface RunCase {
  readonly case: ReturnType<typeof testCase>;
  readonly holds: boolean | undefined;
}

/** @param tools_triggered - the tool that the prompt must trigger; null if it must trigger none */
const testCase = (
  tools_triggered: string | null,
  description: string,
  user_prompt: string,
  expected_output: string,
) => ({
  ...{ description, user_prompt, file_attachment_urls: null },
  ...{ tools_triggered, expected_output, expected_output_url: null },
});

/** A case for each tool that only reads: those that were called first, and then those that were not. */
export function positiveCases(calls: readonly ToolCall[], tools: readonly ListedTool[], name: string) {
  const called = new Set(calls.map(({ tool }) => tool.name));
  const left = tools.filter((tool) => tool.annotations.readOnlyHint === true && !called.has(tool.name));
  const positive = (tool: ListedTool, expected: string, holds?: boolean, call?: ToolCall): RunCase => ({
    case: testCase(tool.name, whatItDoes(tool), promptFor(tool, name, call), expected),
    holds,
  });
  return [
    ...calls.map((call) => {
      const expected = filled(texts.returns, { content: contentInWords(call.content) });
      return positive(call.tool, expected, call.refused === undefined, call);
    }),
    ...left.map((tool) => positive(tool, texts.notRun)),
  ];
}

/** Runs the requests that must be refused: a stranger's, one with an unknown argument, and one that no tool serves. */
export async function negativeCases(
  server: ToolServer,
  tools: readonly ListedTool[],
  calls: readonly ToolCall[],
  name: string,
): Promise<readonly RunCase[]> {
  const refusal = async (at: ToolServer, tool: string, args: JsonObject, said: readonly string[]): Promise<RunCase> => {
    const { refused } = await callTool(at, tool, args);
    const [what = '', prompt = ''] = said.map((text) => filled(text, { tool, name }));
    return { case: testCase(null, what, prompt, texts.refused), holds: refused !== undefined };
  };
  const member = tools.find(needsMember);
  const [first] = calls;
  return Promise.all([
    ...(member ? [refusal({ ask: server.ask, url: server.url }, member.name, {}, texts.stranger)] : []),
    ...(first ? [refusal(server, first.name, { ...first.args, participants: true }, texts.argument)] : []),
    refusal(server, 'delete_courses', {}, texts.noTool),
  ]);
}

/** The first sentence of a tool's description. */
export function whatItDoes({ description, title }: ListedTool): string {
  return /^[^.]{1,500}\./.exec(description)?.[0] ?? `${title}.`;
}

/** What a result contains, without its values: they are other ones when the reviewers look. */
function contentInWords(content: JsonObject): string {
  const names = Object.entries(content).map(([key, value]) => (Array.isArray(value) ? `a list of ${key}` : key));
  return names.length === 0 ? texts.nothing : names.join(', ');
}
