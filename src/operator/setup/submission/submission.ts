import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { JsonObject } from '../../../http/json-object.ts';
import { filledFile } from '../../../http/template.ts';
import { codePath } from '../../../installation.ts';
import { createAsk } from '../../doctor/ask.ts';
import { callReaders } from '../../doctor/directory/calls.ts';
import { type ListedTool, listTools } from '../../doctor/directory/tools.ts';
import { filled } from '../../texts.ts';
import schema from './chatgpt-app-submission.json' with { type: 'json' };
import { findChromium, takeScreenshots } from './screenshots.ts';
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
  /** The settings of the pages that reviewers ask for. */
  readonly pages: { readonly [name in 'support' | 'policyUri' | 'tosUri']?: string | undefined };
  /** The folder for the files. It is created. */
  readonly dir: string;
  readonly signal: AbortSignal;
  /** Compiles a JSON Schema to what says what is wrong with a value, if anything. */
  readonly compile: (schema: JsonObject) => ((value: unknown) => string | undefined) | { readonly mistake: string };
  /** Where programs are looked for, and CHROMIUM. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Additional trusted certificates, PEM. */
  readonly ca?: string;
}

const POSITIVE = 5;
const NEGATIVE = 3;
/** Milliseconds for one request. */
const PATIENCE = 10_000;
const LONGEST_BODY = 1024 * 1024;

/**
 * Runs test cases against a gate, and writes what the directories ask for. Resolves to the paths of the files, to what is
 * missing in them, and to what else the operator has to know. Throws Error if one of the files exists, and NoAnswer or
 * Unavailable if the tools cannot be listed.
 */
export async function writeSubmission(options: SubmissionOptions) {
  const { name, url, token, signal, published = url, pages, environment } = options;
  const { support = texts.todo, policyUri = texts.todo, tosUri = texts.todo } = pages;
  const { origin, hostname } = new URL(url);
  const server = { ask: createAsk({ origin, ca: options.ca, signal, patience: PATIENCE }, LONGEST_BODY), url, token };
  const listed = await listTools(server);
  const tools = [...listed, ...options.tools.filter((one) => listed.every((other) => other.name !== one.name))];
  const calls = await callReaders(server, tools);
  const positive = positiveCases(calls, tools, name);
  const negative = await negativeCases(server, tools, calls, name);
  const values = { name, origin, published, reversed: hostname.split('.').toReversed().join('.') };
  const submission = {
    ...documentOf(texts.openai, values),
    tools: Object.fromEntries(tools.map((tool) => [tool.name, entryOf(tool, name)])),
    test_cases: positive.slice(0, POSITIVE).map((one) => one.case),
    negative_test_cases: negative.map((one) => one.case),
  };
  const compiled = options.compile(schema);
  const invalid = typeof compiled === 'function' ? compiled(submission) : compiled.mistake;
  const shown = calls.filter(({ tool, refused }) => tool.card !== undefined && refused === undefined);
  const chromium = await findChromium(environment);
  const cases = [...positive.slice(0, POSITIVE), ...negative];
  const promptOf = new Map(positive.map((one) => [one.case.tools_triggered, one.case.user_prompt]));
  const view = {
    ...{ name, url: published, origin, support, policyUri, tosUri, hasPictures: chromium !== undefined },
    tools: tools.map((tool) => ({ ...tool, kind: tool.annotations.readOnlyHint === true ? 'Reads.' : 'Writes.' })),
    cases: cases.map((one) => ({
      ...one.case,
      mark: one.holds === undefined ? 'not run' : one.holds ? 'run' : 'FAILED',
    })),
    shots: shown.map((call) => ({ tool: call.name, user_prompt: promptOf.get(call.name) })),
  };
  const folder = resolve(options.dir);
  const written = await writeAll(folder, {
    'chatgpt-app-submission.json': JSON.stringify(submission, undefined, 2),
    'server.json': JSON.stringify(documentOf(texts.registry, { ...values, name: name.slice(0, 40) }), undefined, 2),
    'reviewer-notes.md': filledFile(codePath('operator/setup/submission/reviewer-notes.mustache'), view),
  });
  const pictures = chromium === undefined ? [] : await takeScreenshots(chromium, server, shown, folder);
  return {
    written: [...written, ...pictures],
    problems: problemsOf(cases, invalid),
    notes: [texts.notes.consent, ...(chromium === undefined ? [texts.notes.browser] : [])],
  };
}

/** A document of texts.json, filled in. */
function documentOf(template: object, values: Readonly<Record<string, string>>): JsonObject {
  const quoted = Object.entries(values).map(([name, value]) => [name, JSON.stringify(value).slice(1, -1)]);
  return JSON.parse(filled(JSON.stringify(template), Object.fromEntries(quoted)));
}

function entryOf(tool: ListedTool, name: string) {
  const { readOnlyHint, openWorldHint, destructiveHint } = tool.annotations;
  const why = (hint: keyof typeof texts.hints) =>
    filled(texts.hints[hint][`${tool.annotations[hint] === true}`], { what: whatItDoes(tool), name });
  return {
    annotations: { readOnlyHint, openWorldHint, destructiveHint },
    justifications: {
      read_only_justification: why('readOnlyHint'),
      open_world_justification: why('openWorldHint'),
      destructive_justification: why('destructiveHint'),
    },
  };
}

function problemsOf(cases: readonly RunCase[], invalid: string | undefined): readonly string[] {
  const positive = cases.filter((one) => one.case.tools_triggered !== null).length;
  const negative = cases.length - positive;
  const names = (wanted: boolean | undefined) =>
    cases
      .filter(({ holds }) => holds === wanted)
      .map((one) => one.case.tools_triggered ?? one.case.description)
      .join(', ');
  const values = { failed: names(false), waiting: names(undefined), positive, negative, invalid };
  const { problems } = texts;
  return [
    values.failed !== '' && problems.failed,
    values.waiting !== '' && problems.waiting,
    positive < POSITIVE && problems.positive,
    negative < NEGATIVE && problems.negative,
    invalid !== undefined && problems.invalid,
  ].flatMap((text) => (text === false ? [] : filled(text, values)));
}

async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const all = Object.entries(files).map(([file, text]) => [join(folder, file), text] as const);
  for (const [path, text] of all) await writeFile(path, `${text.trimEnd()}\n`, { flag: 'wx' });
  return all.map(([path]) => path);
}
