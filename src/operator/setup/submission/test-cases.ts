import type { JsonObject } from '../../../http/json-object.ts';
import { callReaders, callTool, type ToolCall } from '../../doctor/directory/calls.ts';
import { type ListedTool, needsMember, type ToolServer } from '../../doctor/directory/tools.ts';
import { filled } from '../../texts.ts';
import texts from './texts.json' with { type: 'json' };

/** A test case as OpenAI's submission has it. */
export interface TestCase {
  readonly description: string;
  readonly user_prompt: string;
  readonly file_attachment_urls: null;
  /** The tool that the prompt must trigger; null if it must trigger none. */
  readonly tools_triggered: string | null;
  readonly expected_output: string;
  readonly expected_output_url: null;
}

/** A test case, and whether its call did what it says: undefined if it was not run. */
export interface RunCase {
  readonly case: TestCase;
  readonly holds: boolean | undefined;
}

const testCase = (
  tools_triggered: string | null,
  description: string,
  user_prompt: string,
  expected: string,
): TestCase => ({
  description,
  user_prompt,
  file_attachment_urls: null,
  tools_triggered,
  expected_output: expected,
  expected_output_url: null,
});

/** Runs a case for each tool that only reads, those that can be called first. `most` is how many are wanted. */
export async function positiveCases(server: ToolServer, tools: readonly ListedTool[], name: string, most: number) {
  const calls = await callReaders(server, tools);
  const called = new Set(calls.map(({ tool }) => tool.name));
  const left = tools.filter((tool) => tool.annotations.readOnlyHint === true && !called.has(tool.name));
  const run = calls.map(({ tool, args, refused, content }): RunCase => {
    const expected = filled(texts.returns, { content: contentInWords(content) });
    const shown = testCase(tool.name, whatItDoes(tool), promptFor(tool, args, name), expected);
    return { case: shown, holds: refused === undefined };
  });
  const waiting = left.map((tool): RunCase => {
    return { case: testCase(tool.name, whatItDoes(tool), promptFor(tool, {}, name), texts.notRun), holds: undefined };
  });
  return { calls, cases: [...run, ...waiting].slice(0, most) };
}

/** Runs the requests that must be refused: a stranger's, one with an unknown argument, and one that no tool serves. */
export async function negativeCases(
  server: ToolServer,
  {
    tools,
    calls,
    name,
  }: { readonly tools: readonly ListedTool[]; readonly calls: readonly ToolCall[]; readonly name: string },
): Promise<readonly RunCase[]> {
  const refusal = async (
    at: ToolServer,
    tool: string,
    args: JsonObject,
    said: readonly [string, string],
  ): Promise<RunCase> => {
    const { refused } = await callTool(at, tool, args);
    return { case: testCase(null, ...said, texts.refused), holds: refused !== undefined };
  };
  const member = tools.find(needsMember);
  const [first] = calls;
  const cases: RunCase[] = [];
  if (member !== undefined) {
    const said = [filled(texts.strangerWhat, { tool: member.name }), filled(texts.strangerPrompt, { name })] as const;
    cases.push(await refusal({ ask: server.ask, url: server.url }, member.name, {}, said));
  }
  if (first !== undefined) {
    const { tool, args } = first;
    const values = { tool: tool.name, title: tool.title, name };
    const said = [filled(texts.argumentWhat, values), filled(texts.argumentPrompt, values)] as const;
    cases.push(await refusal(server, tool.name, { ...args, participants: true }, said));
  }
  cases.push(await refusal(server, 'delete_courses', {}, [texts.noToolWhat, filled(texts.noToolPrompt, { name })]));
  return cases;
}

/** The first sentence of a tool's description. */
export function whatItDoes({ description, title }: ListedTool): string {
  return /^[^.]{1,500}\./.exec(description)?.[0] ?? `${title}.`;
}

function promptFor({ title }: ListedTool, args: JsonObject, name: string): string {
  const values = Object.entries(args).map(([key, value]) => `${key} ${JSON.stringify(value)}`);
  return filled(values.length === 0 ? texts.prompt : texts.promptWith, { title, name, values: values.join(', ') });
}

/** What a result contains, without its values: they are other ones when the reviewers look. */
function contentInWords(content: JsonObject): string {
  const names = Object.entries(content).map(([key, value]) => (Array.isArray(value) ? `a list of ${key}` : key));
  return names.length === 0 ? texts.nothing : names.join(', ');
}
