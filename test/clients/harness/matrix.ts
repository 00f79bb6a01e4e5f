import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Client, type Language, PROFILES, type Profile } from './catalogue.ts';
import type { Outcome } from './program.ts';
import type { Result } from './run-clients.ts';

export const PAGE = fileURLToPath(new URL('../../../docs/clients/matrix.md', import.meta.url));

const SECTIONS = ['Clients', 'What to write', 'What does not work'] as const;
type Section = (typeof SECTIONS)[number];

/** What the page says about one client: its rows in each section. */
export type Rows = Readonly<Record<Section, readonly string[]>>;

const HEADS: Readonly<Record<Section, string>> = {
  Clients:
    '| Client | Language | Version | Client type | Profile A | Profile B |\n| --- | --- | --- | --- | --- | --- |',
  'What to write': '| Client | Profile | Lines |\n| --- | --- | --- |',
  'What does not work': '| Client | Profile | Why |\n| --- | --- | --- |',
};

/** The rows for a client from its results. */
export function rowsOf(results: readonly Result[]): Rows {
  const [first] = results;
  if (first === undefined) throw new RangeError('no result');
  const { client, language } = first;
  const outcomes = new Map(results.map(({ profile, outcome }) => [profile, outcome]));
  const cells = PROFILES.map((profile) => summaryOf(client, profile, outcomes.get(profile)));
  const types = [...new Set(results.flatMap(({ clientType }) => clientType ?? []))].join('; ');
  return {
    Clients: [row(client.name, language.language, first.outcome.version || '–', types || '–', ...cells)],
    'What to write': byProfile(client, (profile) => {
      const outcome = outcomes.get(profile);
      if (outcome === undefined || client.fails[profile] !== undefined) return undefined;
      return outcome.needs.map(code).join('<br>');
    }),
    'What does not work': byProfile(client, (profile) => client.fails[profile]),
  };
}

/** The page with these rows, in the order of the catalogue. */
export function render(languages: readonly Language[], rows: ReadonlyMap<string, Rows>): string {
  const ordered = languages.flatMap(({ language, clients }) =>
    clients.map(({ name }) => rows.get(name) ?? { ...NO_ROWS, Clients: [row(name, language, 'not run', '', '', '')] }),
  );
  const easy = ordered.filter(({ Clients: [line = ''] }) => needsAtMostResource(line)).length;
  const spoken = new Set(languages.map(({ language }) => language)).size;
  const inLanguages = spoken === 1 ? 'one language' : `${spoken} languages`;
  const table = (section: Section) => {
    const lines = ordered.flatMap((one) => one[section]);
    return lines.length === 0 ? 'None.' : [HEADS[section], ...lines].join('\n');
  };
  return `# Client matrix

<!-- Written by npm run test:clients. -->

${ordered.length} clients in ${inLanguages}, tested with a small app each, in both [profiles](../profiles.md). The app signs a member in, uses the access token, waits until it has expired (after 20 seconds), refreshes it, and revokes it, as far as the library can. ${easy} of them need nothing beyond their defaults, or only \`resource\`.

The apps are in [test/clients](../../test/clients/README.md): start from the one for your library. \`npm run test:clients\` runs them all.

## Clients

What an app has to set in each profile, besides its name, redirect URI, scopes, client type and PKCE. A dash means that the client uses the Account API, which profile B does not have.

The client type is what the gate received. A public client sends no secret. The others send theirs in the body (\`client_secret_post\`) or with HTTP Basic (\`client_secret_basic\`), whichever their library does by default; where that differs between requests, they are in brackets. Auth.js leaves the refresh to the app, which sends it as the guide of Auth.js does. A library whose rows are all \`public\` was not tested with a secret.

${table('Clients')}

## What to write

\`resource\` is the value in the protected resource metadata.

${table('What to write')}

## What does not work

${table('What does not work')}
`;
}

/** The rows that the page has now, by client. */
export function readRows(): Map<string, Rows> {
  const rows = new Map<string, Record<Section, string[]>>();
  if (!existsSync(PAGE)) return rows;
  let section: Section | undefined;
  for (const line of readFileSync(PAGE, 'utf8').split('\n')) {
    if (line.startsWith('## ')) section = SECTIONS.find((name) => line === `## ${name}`);
    const [, name] = /^\| ([^|]+) \|/.exec(line) ?? [];
    if (section === undefined || name === undefined || name === 'Client' || name === '---') continue;
    const known = rows.get(name) ?? { Clients: [], 'What to write': [], 'What does not work': [] };
    known[section].push(line);
    rows.set(name, known);
  }
  return rows;
}

const NO_ROWS: Rows = { Clients: [], 'What to write': [], 'What does not work': [] };

function summaryOf(client: Client, profile: Profile, outcome: Outcome | undefined): string {
  if (client.fails[profile] !== undefined) return 'does not work';
  if (outcome === undefined) return '–';
  if (outcome.failure !== undefined) return 'fails';
  if (outcome.needs.length === 0) return 'nothing';
  if (outcome.needs.every(passesResource)) return '`resource`';
  return `${outcome.needs.length} ${outcome.needs.length === 1 ? 'line' : 'lines'}`;
}

/** Whether a line only passes `resource` as a parameter, and is not a piece of code that adds it. */
function passesResource(line: string): boolean {
  return /\bresources?\b/i.test(line) && !/=>|->|hook|\b(?:function|def|class|lambda|func|fn|override)\b/i.test(line);
}

function needsAtMostResource(line: string): boolean {
  const cells = line
    .split(' | ')
    .slice(4)
    .map((cell) => cell.replace(/ \|$/, ''));
  return cells.every((cell) => ['nothing', '`resource`', '–'].includes(cell));
}

/** One row if the text is the same in all profiles of the client, otherwise one for each. */
function byProfile(client: Client, textOf: (profile: Profile) => string | undefined): string[] {
  const texts = new Map<string, Profile[]>();
  for (const profile of client.profiles) {
    const text = textOf(profile);
    if (text) texts.set(text, [...(texts.get(text) ?? []), profile]);
  }
  return [...texts].map(([text, profiles]) => row(client.name, profiles.join(', '), text));
}

function row(...cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function code(line: string): string {
  return `\`${line.trim().replaceAll('|', '\\|')}\``;
}
