import { counted } from '../../../../http/amounts.ts';
import { objectOf } from '../../../../http/json-object.ts';
import { jsonObject, strings, text } from '../../answer.ts';
import type { Ask } from '../../ask.ts';
import { checkEach, failure, pass, type Verdict, warning } from '../../finding.ts';
import { listingChecks } from '../listing.ts';
import { type ListedTool, securitySchemes } from '../tools.ts';
import { unseen } from '../unseen.ts';
import rules from './rules.json' with { type: 'json' };

const CHANGES =
  /^(create|update|delete|remove|add|set|save|send|submit|cancel|enroll?|book|buy|pay|post|put|patch|edit|change|register|invite|assign|publish|upload)$/;
const LOOKS = /^(get|head|options|list|read|search|find|fetch|view)$/;
const WRITE_SCOPE = /[:._](write|manage|admin|delete)$/;
const SENSITIVE =
  /^(password|passcode|secret|api_?key|ssn|social_?security(_?number)?|card_?number|cvv|cvc|pin|otp|mfa_?code|one_?time_?code|passport(_?number)?)$/i;

/** Characters of a result: what Claude takes, and 25,000 tokens of four characters, which Claude Code takes. */
const LARGEST_RESULT = 150_000;
const LARGE_RESULT = 100_000;

/** Requires something of every tool: `wrong` says what is wrong with one, if anything. */
const each =
  (good: string, wrong: (tool: ListedTool) => string | false | undefined, level: (seen: string) => Verdict = failure) =>
  ({ tools }: { readonly tools: readonly ListedTool[] }) =>
    checkEach(good, tools, (tool) => {
      const why = wrong(tool);
      return typeof why === 'string' && level(`${tool.name} ${why}`);
    });

/** What the directories ask of each tool. */
export const TOOL = [
  ...listingChecks(['tools'], {
    'tool.listed'({ tools, own }) {
      if (tools.length === 0) return failure('no tool is listed');
      const missing =
        own?.tools.map(({ name }) => name).filter((name) => tools.every((one) => one.name !== name)) ?? [];
      return missing.length === 0
        ? pass(counted(tools.length, 'tool'))
        : unseen('tool.listed', `Give an access token with --token for ${missing.join(', ')}.`);
    },
    'tool.title': each('each tool has one', ({ title }) => title === '' && 'has no title'),
    'tool.name': each(
      'at most 64 letters, digits, _ and -',
      ({ name }) => !/^[\w-]{1,64}$/.test(name) && `has ${name.length} characters, or other ones`,
    ),
    'tool.description': each(
      'each tool has one',
      ({ description }) => description.trim() === '' && 'has no description',
    ),
    'tool.hints': ({ tools, directory }) => {
      const { hints, needed } = rules[directory];
      return each('each tool has them', ({ annotations }) => {
        const missing = hints.filter((hint) => typeof annotations[hint] !== 'boolean');
        return hints.length - missing.length < needed && `lacks ${missing.join(', ')}`;
      })({ tools });
    },
    async 'tool.truth'({ tools, own, ask, origin }) {
      const methods = await operationMethods(ask, origin);
      return each('nothing that is known of a tool contradicts its hints', (tool) => {
        const { name, annotations } = tool;
        const reads = annotations.readOnlyHint === true;
        const configured = own?.tools.find((one) => one.name === name)?.annotations.readOnlyHint ?? reads;
        if (configured !== reads)
          return `has readOnlyHint ${reads}, but its action in the configuration says otherwise`;
        const method = methods.get(plain(name));
        if (method !== undefined && /^(get|head)$/.test(method) !== reads)
          return `has readOnlyHint ${reads}, but the operation of that name is a ${method}`;
        const why = reads ? reasonToWrite(tool) : undefined;
        return why !== undefined && `says that it is read-only, but ${why}`;
      })({ tools });
    },
    'tool.separate': each('no tool can be told to read or to write', ({ inputSchema }) => {
      const input = Object.entries(objectOf(inputSchema.properties)).find(([name, schema]) => {
        const words = strings(objectOf(schema).enum).map(firstWord);
        const isBoth = words.some((word) => LOOKS.test(word)) && words.some((word) => CHANGES.test(word));
        return isBoth || (/^(http_?)?method$/i.test(name) && words.length === 0);
      });
      return input !== undefined && `reads or writes, as its input ${input[0]} says`;
    }),
    'tool.security': each('each tool says what it needs', (tool) => {
      const kinds = securitySchemes(tool).map(({ type }) => String(type));
      return !(kinds.length > 0 && kinds.every((kind) => /^(noauth|oauth2)$/.test(kind))) && 'has no securitySchemes';
    }),
    'tool.sensitive': each('no tool asks for a secret', ({ inputSchema }) => {
      const input = Object.keys(objectOf(inputSchema.properties)).find((name) => SENSITIVE.test(name));
      return input !== undefined && `asks for ${input}`;
    }),
    'tool.output': each('each tool describes it', (tool) => !tool.hasOutputSchema && 'has no outputSchema', warning),
  }),
  ...listingChecks(['calls'], {
    'tool.answers': ({ calls }) =>
      checkEach(`${counted(calls.length, 'tool')} called`, calls, ({ tool, result: { refused } }) =>
        refused === undefined ? undefined : warning(`${tool.name} fails: ${refused}`),
      ),
    'tool.result-size': ({ calls }) =>
      checkEach(`at most ${LARGE_RESULT} characters`, calls, ({ tool, result: { characters } }) => {
        if (characters <= LARGE_RESULT) return undefined;
        return (characters > LARGEST_RESULT ? failure : warning)(`${tool.name} returns ${characters} characters`);
      }),
  }),
];

/** Why a tool that says it is read-only seems to write; undefined if it does not. */
function reasonToWrite(tool: ListedTool): string | undefined {
  if (tool.annotations.destructiveHint === true) return 'also that it is destructive';
  if (CHANGES.test(firstWord(tool.name))) return `its name begins with "${firstWord(tool.name)}"`;
  const scope = securitySchemes(tool)
    .flatMap(({ scopes }) => strings(scopes))
    .find((one) => WRITE_SCOPE.test(one));
  return scope === undefined ? undefined : `it needs ${scope}`;
}

const firstWord = (name: string) => (/^[A-Z]*[a-z]*/.exec(name)?.[0] ?? '').toLowerCase();
const plain = (name: string) => name.replace(/[^a-z0-9]/gi, '').toLowerCase();

/** The methods of the operations in the site's OpenAPI document, by their plain names; none if there is no document. */
async function operationMethods(ask: Ask, origin: string): Promise<ReadonlyMap<string, string>> {
  const answer = await ask(`${origin}/openapi.json`);
  const paths = objectOf(answer.status === 200 ? jsonObject(answer)?.paths : undefined);
  const operations = Object.values(paths).flatMap((path) => Object.entries(objectOf(path)));
  return new Map(operations.map(([method, one]) => [plain(text(objectOf(one).operationId) ?? ''), method]));
}
