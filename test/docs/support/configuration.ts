import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { configJsonSchema } from '../../../src/config/json-schema.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { LANGUAGE_TAG } from '../../../src/config/pages.ts';
import { checkInterfaces } from '../../../src/generation/interfaces.ts';
import { isObject, type JsonObject } from '../../../src/http/json-object.ts';
import { parseMembers } from '../../../src/login/directory/settings-members.ts';
import { createAuthority } from '../../support/certificates.ts';
import { checkForeignYaml } from './foreign-yaml.ts';
import type { Block } from './markdown.ts';
import { BLOCKS, ROOT } from './pages.ts';

const KEYS: ReadonlySet<string> = new Set(Object.keys(configJsonSchema().properties ?? {}));

/** The common settings that a page omits. NAME is the upstream of the page. A page with `account` is about profile A. */
const AROUND: Readonly<Record<string, string>> = {
  version: 'version: 1\n',
  profile: 'profile: B\n',
  anonymous: 'anonymous: refuse\n',
  origin: 'origin: https://school.example\n',
  store: 'store: { kind: sqlite, path: data/gate.db }\n',
  login: `login:
  kind: session
  upstream: NAME
  whoami: { path: /api/me }
  loginUrl: https://school.example/login
  cookies: [school_session]
`,
  upstreams: 'upstreams: { NAME: { url: http://127.0.0.1:4000 } }\n',
  site: 'site: { upstream: NAME }\n',
};

/** A sign-in page given as a path is on the site, which must then be behind the gate. */
function needsSite({ login, enforcement }: JsonObject): boolean {
  const { loginUrl } = isObject(login) ? login : {};
  return (typeof loginUrl === 'string' && loginUrl.startsWith('/')) || isObject(enforcement);
}

/**
 * Checks a block of YAML by its kind. A configuration, or a part of one completed with the omitted settings, must load as
 * with `coursegate check`, with stand-ins for its secrets and files. Other kinds are files that a configuration names, and
 * files for other programs. Throws if the block is invalid.
 */
export async function checkYaml(block: Block): Promise<void> {
  const documents = parseAllDocuments(block.text);
  for (const { errors } of documents) if (errors[0]) throw new Error(errors[0].message);
  const trees: unknown[] = documents.map((document) => document.toJS());
  if (trees.length === 0) throw new Error('there is nothing in it');
  if (trees.length > 1 || !isObject(trees[0])) {
    for (const tree of trees) checkForeignYaml(tree, block);
    return;
  }
  const [tree] = trees;
  const names = Object.keys(tree);
  if (names.length === 1 && names[0] === 'members') {
    checkMembers(block.text);
    return;
  }
  const unknown = names.filter((name) => !KEYS.has(name));
  if (unknown.length > 0) {
    checkForeignYaml(tree, block);
    return;
  }
  if (/^# (?:members|tools)\.yaml/.test(block.text)) throw new Error('it says that it is a file, and has not its keys');
  await checkConfiguration(block, tree);
}

function checkMembers(text: string): void {
  const { members = [], problems } = parseMembers('members.yaml', text);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  if (members.length === 0) throw new Error('it has no member');
}

async function checkConfiguration(block: Block, tree: JsonObject): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-docs-'));
  try {
    const upstreams = isObject(tree.upstreams) ? Object.keys(tree.upstreams) : [];
    const name = upstreams.includes('school') ? 'school' : (upstreams[0] ?? 'school');
    const missing = Object.keys(AROUND).filter((key) => !(key in tree) && (key !== 'site' || needsSite(tree)));
    const around = 'account' in tree ? { ...AROUND, profile: 'profile: A\n' } : AROUND;
    const whole = [block.text, ...missing.map((key) => around[key]?.replaceAll('NAME', name))].join('\n');
    const placed = writeStandIns(whole, folder);
    if (isObject(tree.account)) writeAccount(tree.account, block, folder);
    const file = join(folder, 'coursegate.yaml');
    writeFileSync(file, placed);
    const merged = parse(placed) as JsonObject;
    const loaded = await loadConfig({
      file,
      environment: environmentFor(merged),
      overrides: {
        upstreams: {
          ...upstreamsFor(merged),
          ...(isObject(tree.account) && !hasOwnFiles(tree.account) ? ACCOUNT_UPSTREAMS : {}),
        },
      },
    });
    await checkInterfaces(loaded);
    // Only complete configurations must be free of warnings, because readers copy them.
    if ('version' in tree && loaded.warnings.length > 0) {
      throw new Error(loaded.warnings.map(({ path, message }) => `warning: ${path}: ${message}`).join('\n'));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The demo's services, which the mappings of the repository use. */
const ACCOUNT_UPSTREAMS = { progress: { url: 'http://127.0.0.1:4001' }, events: { url: 'http://127.0.0.1:4002' } };

/** Whether a page means a reader's own contract and mapping. */
function hasOwnFiles({ schema, mappings }: JsonObject): boolean {
  return schema === 'account.graphql' && mappings === 'mapping.graphql';
}

/** What these could be. */
const OWN_CONTRACT = 'type Query { viewer: Viewer! } type Viewer { id: ID! email: String }';
const OWN_MAPPING = `extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "school")
extend type Viewer { email: String @connect(source: "school", http: { GET: "/api/me" }, selection: "$.email") }
`;

/**
 * Writes the files of an Account API where a page expects them: those that the page shows, a reader's own if there is one
 * of each, else the demo's.
 */
function writeAccount({ schema, mappings, upstreamSchemas }: JsonObject, { file }: Block, folder: string): void {
  const own = (word: string) =>
    BLOCKS.filter((one) => one.file === file && one.words[0] === word).map(({ text }) => text);
  const put = (path: unknown, text: string) => {
    if (typeof path !== 'string') return;
    const to = join(folder, path.replace('*', 'one'));
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, text);
  };
  const from = (path: string) => readFileSync(join(ROOT, 'schema', path), 'utf8');
  if (hasOwnFiles({ schema, mappings })) {
    put(schema, OWN_CONTRACT);
    put(mappings, OWN_MAPPING);
    return;
  }
  const shown = schema === 'contract.graphql' ? own('contract') : [];
  put(schema, shown[0] ?? from('account.graphql'));
  put(
    mappings,
    shown.length > 0
      ? own('mapping').join('\n')
      : `${from('upstream/school.graphql')}\n${from('upstream/events.graphql')}`,
  );
  for (const [name, path] of Object.entries(isObject(upstreamSchemas) ? upstreamSchemas : {})) {
    put(path, from(`upstream/recorded/${name}.graphql`));
  }
}

/** Every mapping in a tree, with its key and its parent keys. */
function* mappings(
  value: unknown,
  path: readonly string[] = [],
): Generator<{ tree: JsonObject; path: readonly string[] }> {
  if (Array.isArray(value)) for (const item of value) yield* mappings(item, path);
  if (!isObject(value)) return;
  yield { tree: value, path };
  for (const [key, inner] of Object.entries(value)) yield* mappings(inner, [...path, key]);
}

/** Adds upstreams that a page uses but does not declare. */
function upstreamsFor(tree: JsonObject): JsonObject {
  const declared = new Set(isObject(tree.upstreams) ? Object.keys(tree.upstreams) : []);
  const named = [...mappings(tree)].flatMap(({ tree: { upstream } }) => (typeof upstream === 'string' ? upstream : []));
  return Object.fromEntries(
    named.filter((one) => !declared.has(one)).map((one) => [one, { url: 'http://127.0.0.1:4999' }]),
  );
}

const TEXT = 'c3RhbmQtaW4tZm9yLWEtc2VjcmV0LW9mLTMyLWJ5dGVz';

/** A value for every `{ env: NAME }`; a URL where one is required. */
function environmentFor(settings: JsonObject): Record<string, string> {
  const kind = isObject(settings.store) ? String(settings.store.kind) : '';
  const store = /^(postgres|mysql)$/.test(kind) ? `${kind}://gate@db.internal/gate` : 'redis://localhost:6379';
  return Object.fromEntries(
    [...mappings(settings)].flatMap(({ tree: { env }, path }) => {
      if (typeof env !== 'string') return [];
      const isUrl = path.at(-1) === 'url';
      return [[env, isUrl ? (path[0] === 'login' ? 'sqlite:/srv/members.db' : store) : TEXT]];
    }),
  );
}

/** Writes a stand-in for each file that the text names. Returns the text with the new names. */
function writeStandIns(text: string, folder: string): string {
  const named = new Set(
    [...mappings(parse(text))].flatMap(({ tree, path }) =>
      path.at(-1) === 'store' || path[0] === 'site' ? [] : Object.entries(tree).flatMap(fileNamed),
    ),
  );
  let written = text;
  let authority: ReturnType<typeof createAuthority> | undefined;
  let pair: { readonly cert: string; readonly key: string } | undefined;
  try {
    for (const path of named) {
      const name = basename(path);
      if (/\.(?:crt|pem|key)$/.test(name) && pair === undefined) {
        authority = createAuthority();
        pair = authority.issue('localhost');
      }
      writeFileSync(join(folder, name), contentFor(name, pair));
      written = written.replaceAll(path, name);
    }
  } finally {
    authority?.close();
  }
  return written;
}

function fileNamed([key, value]: [string, unknown]): string[] {
  if (key === 'languages' && Array.isArray(value)) return value.filter((one) => String(one).endsWith('.json'));
  if (typeof value !== 'string') return [];
  return ['file', 'cert', 'key', 'clientCa', 'ca'].includes(key) && !value.includes(' ') ? [value] : [];
}

const CATALOGUE = join(ROOT, 'src/config/i18n/en.json');

function contentFor(name: string, pair: { readonly cert: string; readonly key: string } | undefined): string {
  switch (extname(name)) {
    case '.svg':
      return '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>';
    case '.crt':
      return pair?.cert ?? '';
    case '.pem':
      return pair?.cert ?? '';
    case '.key':
      return pair?.key ?? '';
    case '.json':
      if (LANGUAGE_TAG.test(basename(name, '.json'))) return readFileSync(CATALOGUE, 'utf8');
      return '{"openapi":"3.1.0","info":{"title":"School","version":"1"},"paths":{}}';
    case '.yaml':
      return name.startsWith('members') ? MEMBERS : name.startsWith('tools') ? 'tools: []\n' : OPENAPI;
    default:
      return `${TEXT}\n`;
  }
}

const MEMBERS = `members:
  - id: 1001
    login: ann
    password: $2y$10$NNfAHKIXSqTE0lIHa4R/P.JJeZgLCP1CRuTm8P5JEiiDEKQPoSJyG
`;
const OPENAPI = 'openapi: 3.1.0\ninfo: { title: School, version: "1" }\npaths: {}\n';
