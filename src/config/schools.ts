import { basename } from 'node:path';
import { isObject } from '../http/json-object.ts';
import type { LoadedConfig } from './loaded-config.ts';
import { SCHOOL_FILES } from './name.ts';
import type { UntracedProblem } from './problems.ts';
import type { SourceFiles } from './source-files.ts';
import { merge, type Tree } from './tree.ts';

/**
 * Many schools in one process. The main file has the keys of the process and names the folder of the schools' files, each
 * of which is the configuration of one school.
 */
const OF_PROCESS = ['listen', 'store', 'secret', 'furtherSecrets', 'log', 'reload', 'schools', 'domains'] as const;
const OF_BOTH = ['$schema', 'version', 'admin'];

/** What the main file is read with, in place of what its schools have. Nothing is served by it. */
const NO_SCHOOL: Tree = {
  origin: 'https://schools.invalid',
  login: {
    kind: 'session',
    upstream: 'none',
    loginUrl: 'https://schools.invalid/',
    whoami: { path: '/', subject: '/id' },
    cookies: ['none'],
  },
  upstreams: { none: { url: 'http://127.0.0.1' } },
  routes: [],
};

/** A school's name, which is that of its file: in a URL of the admin listener, in a label of metrics and in the log. */
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Which part of a configuration a file is. */
export type FileRole = 'whole' | 'main' | { readonly main: LoadedConfig };

export function roleOf(tree: Tree, main: LoadedConfig | undefined): FileRole {
  if (main !== undefined) return { main };
  return tree.schools === undefined ? 'whole' : 'main';
}

/** The merged settings as they are checked: with what the file leaves to the other one. */
export function completed(tree: Tree, role: FileRole): Tree {
  if (role === 'whole') return tree;
  if (role === 'main') return merge(NO_SCHOOL, tree) as Tree;
  const { listen = {}, log, reload } = role.main.written.tree;
  const { decisions, ...listening } = listen as Tree;
  // Its routes need to know only whether gateways may ask.
  const asked = decisions === undefined ? {} : { decisions: { address: 'unix:/of/the/process' } };
  return merge(tree, { listen: { ...listening, ...asked }, log, reload, store: { kind: 'memory' } }) as Tree;
}

/** Whether a finding is about what a file may set: nothing is served by what completes a main file. */
export function isAbout(role: FileRole): (finding: UntracedProblem) => boolean {
  return ({ path: [key] }) => role !== 'main' || OF_PROCESS.some((own) => own === key);
}

/** Finds keys that belong in the other file. `own` is what the file itself sets. */
export function misplacedKeys(own: Tree, role: FileRole): readonly UntracedProblem[] {
  const at = (path: readonly string[], message: string): UntracedProblem => ({ path, at: 'key', message });
  if (role === 'whole')
    return ['aliases', 'domains']
      .filter((key) => own[key] !== undefined)
      .map((key) => at([key], 'is for many schools, which `schools` lists: this file has one, with one origin'));
  if (role === 'main') {
    const here = new Set<string>([...OF_PROCESS, ...OF_BOTH, 'extends']);
    return [
      ...Object.keys(own)
        .filter((key) => !here.has(key))
        .map((key) => at([key], 'belongs in the file of a school: this one lists `schools`')),
      ...(isObject(own.admin) && own.admin.webhooks !== undefined
        ? [at(['admin', 'webhooks'], 'belongs in the file of a school: a webhook is about the members of one')]
        : []),
    ];
  }
  return [
    ...OF_PROCESS.filter((key) => own[key] !== undefined).map((key) =>
      at([key], 'belongs in the main file, which lists the schools: it is for all of them'),
    ),
    ...(isObject(own.admin) && own.admin.mtls !== undefined
      ? [at(['admin', 'mtls'], 'belongs in the main file: the admin listener is that of all schools')]
      : []),
  ];
}

/** Finds the schools' files: paths by the name of the school. A file with another name is a finding. */
export async function schoolFiles(tree: Tree, files: SourceFiles) {
  const schools = new Map<string, string>();
  const findings: UntracedProblem[] = [];
  const report = (message: string) => findings.push({ path: ['schools'], at: 'value', message });
  const [, folder, ending] = SCHOOL_FILES.exec(String(tree.schools)) ?? [];
  if (folder === undefined || ending === undefined) return { schools: undefined, findings };
  const names = await files.names(folder).catch(() => undefined);
  if (names === undefined) report(`${folder} cannot be read as a folder`);
  for (const file of (names ?? []).filter((one) => one.endsWith(ending)).toSorted()) {
    const name = basename(file, ending);
    if (NAME.test(name)) schools.set(name, files.resolve(`${folder}/${file}`));
    else report(`${file} cannot be the file of a school: its name may have small letters, digits and -`);
  }
  return { schools, findings };
}

/** A school's configuration, with what is the process's. The operators of the process are those of each school, too. */
export function withProcess<T extends Omit<LoadedConfig, 'loadText'>>(loaded: T, main: LoadedConfig): T {
  const { listen, store, log, reload } = main.config;
  const { secret, furtherSecrets, redis, databaseUrl } = main;
  const hmac = [...loaded.admin.hmac, ...main.admin.hmac];
  const { mtls } = main.config.admin;
  const asking = 'listen.decisions.secret';
  const known = main.secrets.get(asking);
  return {
    ...loaded,
    secrets: known === undefined ? loaded.secrets : new Map([...loaded.secrets, [asking, known]]),
    ...{ secret, furtherSecrets, redis, databaseUrl },
    admin: { hmac, mtls: main.admin.mtls },
    config: { ...loaded.config, listen, store, log, reload, admin: { ...loaded.config.admin, mtls } },
    warnings: loaded.warnings.filter(
      ({ path }) => !OF_PROCESS.some((key) => path === key || path.startsWith(`${key}.`)),
    ),
  };
}
