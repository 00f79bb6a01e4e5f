import { readFileSync } from 'node:fs';
import { print, printDirective, printType } from 'graphql';
import { DIRECTIVES } from '../../src/account/connect/directives.ts';
import { describeMethods } from '../../src/account/connect/methods.ts';
import { VARIABLES } from '../../src/account/connect/syntax.ts';
import { VOCABULARY } from '../../src/account/contract.ts';
import { SCALAR_NAMES } from '../../src/account/scalars.ts';
import { CONSTRUCTS, type Example, METHOD_EXAMPLES } from '../account/support/examples.ts';
import { RECIPES, type Recipe } from '../account/support/recipes.ts';

/** The meaning of each variable, and where it can be used. */
const VARIABLE_WORDS: Readonly<Record<(typeof VARIABLES)[number], readonly [keys: string, where: string]>> = {
  args: ["the field's arguments, as the contract names them", 'on a field'],
  this: [
    'the fields of the object that the field stands in, and its names that begin with `_`',
    'on a field, not of Query or Mutation',
  ],
  batch: ['the key of each of the objects, as a list', 'on a type, in `http`'],
  each: ['an item of the list in `each`', 'on a field with `each`, in `http`'],
  context: ['`sub`, `email`, `name`: of the verified access token, and of nothing else', 'everywhere'],
  config: ['`account.config` of the configuration; a secret only in `http`', 'everywhere'],
  page: ['`number`, `offset` or `cursor` by the style of the connection, and `size`', 'in `http`, with @connection'],
  status: ["the answer's HTTP status", 'in `isSuccess` and `errors`'],
};

/** The text of schema/REFERENCE.md. */
export function reference(): string {
  const sections = [
    `# Reference of the mapping

Written by \`npm run schema\` from what the gate runs; do not edit. How to begin is in [README.md](README.md). A mapping file
holds \`extend schema\` with its sources and \`extend type\` with a \`@connect\` on a field or a type. Every mistake in it is
reported at start, by file, line and column, and nothing starts.`,
    `## Directives of a mapping

A subset of Apollo Connectors, written from its public description; \`@connection\` is ours.

${fence('graphql', directivesOfMappings())}`,
    `## Directives of the contract

Clients see none of them; what a field needs is added to its description.

${fence('graphql', print(VOCABULARY))}`,
    `## Scalars

The contract may declare ${[...SCALAR_NAMES].map((name) => `\`${name}\``).join(', ')}. What leaves is checked: a value of another form is an error of
its field, with the code \`UPSTREAM_BAD_RESPONSE\`.`,
    `## Variables

| variable | has | may be named |
| --- | --- | --- |
${VARIABLES.map((name) => `| \`$${name}\` | ${VARIABLE_WORDS[name].join(' | ')} |`).join('\n')}

Everything that goes into a path is percent-encoded whole and refused when it is empty, \`.\` or \`..\`, or holds a slash, a
backslash or a control character. A value in a header may have visible ASCII only.`,
    `## Grammar

${fence('text', grammar())}`,
    `## Selections

| what | selection | of | gives |
| --- | --- | --- | --- |
${CONSTRUCTS.map((one) => `| ${one.about} | ${row(one)}`).join('\n')}`,
    `## Methods

A value that is not of the kind a method needs is an error of its field only. An argument can be a value or an expression that
begins with \`$\` or \`@\`, except that \`count\`, \`encoding\`, \`format\` and \`zone\` are written out. A method whose argument is null
returns null, except \`eq\`, \`ne\`, \`contains\`, \`and\`, \`or\` and \`match\`.

Local times are read in \`timeZone\` of the configuration, or in the time zone that the mapping names; \`check\` warns where neither
is set. A time that occurs twice, when clocks are put back, is the first of the two. A time that does not occur, when clocks
are put forward, is as much later: 02:30 is read as 03:30. A date alone is its midnight.

| method | gives | for example | of | gives |
| --- | --- | --- | --- | --- |
${describeMethods().map(methodRows).join('\n')}`,
    `## Recipes

Each is a whole mapping with the responses of its upstream; a test runs it.`,
    ...RECIPES.map(recipe),
  ];
  return `${sections.join('\n\n')}\n`;
}

function directivesOfMappings(): string {
  const directives = DIRECTIVES.getDirectives().filter(({ name }) => DIRECTIVES.getDirective(name)?.astNode);
  const types = Object.values(DIRECTIVES.getTypeMap()).filter(({ name, astNode }) => astNode && name !== 'Query');
  return [...directives.map(printDirective), ...types.map(printType)].join('\n\n');
}

/** The grammar is defined next to the parser's types. */
function grammar(): string {
  const text = readFileSync(new URL('../../src/account/connect/syntax.ts', import.meta.url), 'utf8');
  const comment = /^\/\*\*\n([\s\S]*?)\n \*\//.exec(text)?.[1] ?? '';
  const lines = comment.split('\n').map((line) => line.replace(/^ \* ?/, ''));
  const from = lines.findIndex((line) => line.includes('selection  ='));
  return lines.slice(from).join('\n').trim();
}

function methodRows({ call, about }: { readonly call: string; readonly about: string }): string {
  const name = /^->(\w+)/.exec(call)?.[1] ?? '';
  return (METHOD_EXAMPLES[name] ?? [])
    .map((example, at) => `| ${at === 0 ? code(call) : ''} | ${at === 0 ? about : ''} | ${row(example)}`)
    .join('\n');
}

function recipe({ about, text, mapping, answers, query, gives }: Recipe): string {
  const rows = Object.entries(answers).map(([path, json]) => {
    return `| ${code(`GET ${path}`)} | ${json === undefined ? '404' : code(JSON.stringify(json))} |`;
  });
  const table = ['| request | response |', '| --- | --- |', ...rows].join('\n');
  const result = `The query ${code(query)} then gives ${code(JSON.stringify(gives))}.`;
  return [`### ${about}`, text, fence('graphql', mapping), table, result].join('\n\n');
}

function row({ selection, data, gives, variables, timeZone }: Example): string {
  const given = Object.entries(variables ?? {}).map(([name, value]) => `$${name} = ${JSON.stringify(value)}`);
  if (timeZone !== undefined) given.push(`timeZone: ${timeZone}`);
  return `${code(selection)} | ${code([JSON.stringify(data), ...given].join(', '))} | ${code(JSON.stringify(gives))} |`;
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trim()}\n\`\`\``;
}
