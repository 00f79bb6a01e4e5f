import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { JsonObject } from '../../../http/json-object.ts';
import { filledFile } from '../../../http/template.ts';
import { codePath } from '../../../installation.ts';
import { createAsk } from '../../doctor/ask.ts';
import { type ListedTool, listTools } from '../../doctor/directory/tools.ts';
import { filled } from '../../texts.ts';
import schema from './chatgpt-app-submission.json' with { type: 'json' };
import { negativeCases, positiveCases, type RunCase, whatItDoes } from './test-cases.ts';
import texts from './texts.json' with { type: 'json' };

interface SubmissionOptions {
  /** The name of the school. */
  readonly name: string;
  /** Where the tools are, such as https://school.example/mcp. */
  readonly url: string;
  /** The address to list, if it is another: one that asks everyone to sign in. */
  readonly published?: string;
  /** An access token of the reviewers' account. */
  readonly token: string | undefined;
  /** The tools of the configuration, of which a stranger may see only some. */
  readonly tools: readonly ListedTool[];
  readonly support: string | undefined;
  /** The folder for the files. It is created. */
  readonly dir: string;
  readonly signal: AbortSignal;
  /** Compiles a JSON Schema to what says what is wrong with a value, if anything. */
  readonly compile: (schema: JsonObject) => ((value: unknown) => string | undefined) | { readonly mistake: string };
  /** Additional trusted certificates, PEM. */
  readonly ca?: string;
}

const OPENAI_FILE = 'chatgpt-app-submission.json';
const SCHEMA = 'https://developers.openai.com/apps-sdk/schemas/chatgpt-app-submission.v1.json';
const REGISTRY_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';
const POSITIVE = 5;
const NEGATIVE = 3;
/** Milliseconds for one request. */
const PATIENCE = 10_000;
const LONGEST_BODY = 1024 * 1024;

/**
 * Runs test cases against a gate, and writes what the directories ask for. Resolves to the paths of the files, and to what
 * is missing in them, for the operator. Throws Error if one of the files exists, and NoAnswer or Unavailable if the tools
 * cannot be listed.
 */
export async function writeSubmission(options: SubmissionOptions) {
  const { name, url, token, signal, support = texts.todo } = options;
  const { published = url } = options;
  const { origin } = new URL(url);
  const ask = createAsk({ origin, ca: options.ca, signal, patience: PATIENCE }, LONGEST_BODY);
  const server = { ask, url, token };
  const listed = await listTools(server);
  const tools = [...listed, ...options.tools.filter((one) => listed.every((other) => other.name !== one.name))];
  const { calls, cases: positive } = await positiveCases(server, tools, name, POSITIVE);
  const negative = await negativeCases(server, { tools, calls, name });
  const submission = {
    $schema: SCHEMA,
    schema_version: 1,
    app_info: {
      display_name: name,
      subtitle: texts.subtitle,
      description: filled(texts.about, { name }),
      category: 'EDUCATION',
    },
    tools: Object.fromEntries(tools.map((tool) => [tool.name, entryOf(tool, name)])),
    test_cases: positive.map((one) => one.case),
    negative_test_cases: negative.map((one) => one.case),
  };
  const compiled = options.compile(schema);
  const valid = typeof compiled === 'function' ? compiled : () => compiled.mistake;
  const registry = {
    $schema: REGISTRY_SCHEMA,
    name: `${new URL(origin).hostname.split('.').toReversed().join('.')}/mcp`,
    title: name.slice(0, 100),
    description: filled(texts.registry, { name }).slice(0, 100),
    version: '1.0.0',
    websiteUrl: origin,
    remotes: [{ type: 'streamable-http', url: published }],
  };
  const view = {
    ...{ name, url: published, origin, support },
    tools: tools.map((tool) => ({ ...tool, kind: tool.annotations.readOnlyHint === true ? 'Reads.' : 'Writes.' })),
    cases: [...positive, ...negative].map((one) => ({ ...one.case, mark: markOf(one) })),
    shots: positive.slice(0, 3).map((one) => one.case),
  };
  const written = await writeAll(options.dir, {
    [OPENAI_FILE]: `${JSON.stringify(submission, undefined, 2)}\n`,
    'server.json': `${JSON.stringify(registry, undefined, 2)}\n`,
    'reviewer-notes.md': filledFile(codePath('operator/setup/submission/reviewer-notes.mustache'), view),
  });
  return { written, problems: problemsOf(positive, negative, valid(submission)) };
}

function entryOf(tool: ListedTool, name: string) {
  const { readOnlyHint, openWorldHint, destructiveHint } = tool.annotations;
  const values = { what: whatItDoes(tool), name };
  return {
    annotations: { readOnlyHint, openWorldHint, destructiveHint },
    justifications: {
      read_only_justification: filled(readOnlyHint === true ? texts.reads : texts.writes, values),
      open_world_justification: filled(openWorldHint === true ? texts.open : texts.closed, values),
      destructive_justification: destructiveHint === true ? texts.destroys : texts.keeps,
    },
  };
}

function markOf({ holds }: RunCase): string {
  if (holds === undefined) return '[not run]';
  return holds ? '[run]' : '[FAILED]';
}

function problemsOf(
  positive: readonly RunCase[],
  negative: readonly RunCase[],
  invalid: string | undefined,
): readonly string[] {
  const all = [...positive, ...negative];
  const names = (of: readonly RunCase[]) =>
    of.map((one) => one.case.tools_triggered ?? one.case.description).join(', ');
  const [failed, waiting] = [
    all.filter(({ holds }) => holds === false),
    all.filter(({ holds }) => holds === undefined),
  ];
  return [
    ...(failed.length > 0 ? [`These test cases fail: ${names(failed)}.`] : []),
    ...(waiting.length > 0
      ? [`These test cases were not run: ${names(waiting)}. Give an access token with --token.`]
      : []),
    ...(positive.length < POSITIVE
      ? [`There are ${positive.length} test cases, but OpenAI wants ${POSITIVE}: write the others.`]
      : []),
    ...(negative.length < NEGATIVE
      ? [`There are ${negative.length} negative test cases, but OpenAI wants ${NEGATIVE}.`]
      : []),
    ...(invalid === undefined ? [] : [`${OPENAI_FILE} does not fit OpenAI’s schema: ${invalid}.`]),
  ];
}

async function writeAll(dir: string, files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const folder = resolve(dir);
  await mkdir(folder, { recursive: true });
  const written: string[] = [];
  for (const [file, text] of Object.entries(files)) {
    const path = join(folder, file);
    await writeFile(path, text, { flag: 'wx' });
    written.push(path);
  }
  return written;
}
