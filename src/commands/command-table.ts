import type { Define } from './command.ts';

interface CommandEntry {
  /** For the list of commands, in one line of 80 columns. */
  readonly summary: string;
  /** For the help of the command itself, if the summary does not say enough. */
  readonly description?: string;
  readonly load: () => Promise<{ readonly define: Define }>;
}

/** Every command by its name, under the heading it is listed under. */
export const COMMAND_TABLE: Readonly<Record<string, Readonly<Record<string, CommandEntry>>>> = {
  'Start:': {
    demo: {
      summary: 'run the gate in front of a demo school, with a third-party app',
      load: () => import('./demo.ts'),
    },
    init: {
      summary: 'inspect your site, and write a configuration for it',
      description: 'inspect your site, and write a configuration, a drop-in and snippets for the web server',
      load: () => import('./init.ts'),
    },
  },
  'Configure:': {
    check: { summary: 'check a configuration file; starts nothing', load: () => import('./check.ts') },
    config: { summary: 'print the effective configuration, or its schema', load: () => import('./config.ts') },
    snippets: {
      summary: 'print the configuration of the web server in front',
      description: 'print the web server configuration that sends the gate its paths, or asks it about them',
      load: () => import('./snippets.ts'),
    },
    export: {
      summary: 'write the discovery documents to files',
      description: 'write the discovery documents to files, for a host that cannot send /.well-known to the gate',
      load: () => import('./export.ts'),
    },
    account: { summary: 'save and compare the schemas of the Account API', load: () => import('./account.ts') },
    mcp: { summary: 'propose tools for agents', load: () => import('./mcp.ts') },
    'hash-password': {
      summary: 'hash a password for a directory file',
      description: 'read a password from standard input, and print its hash for a directory file',
      load: () => import('./hash-password.ts'),
    },
  },
  'Run:': {
    serve: { summary: 'run the gate', load: () => import('./serve.ts') },
    backup: { summary: 'copy the store to a new file, even while the gate runs', load: () => import('./backup.ts') },
    secret: {
      summary: 'rotate the secret that encrypts the store',
      description: 'rotate the secret that encrypts the store, without losing data',
      load: () => import('./secret.ts'),
    },
  },
  'Inspect:': {
    health: { summary: 'ask a running gate if it is healthy', load: () => import('./health.ts') },
    doctor: {
      summary: 'examine a deployment from outside, coursegate or not',
      description:
        'examine a deployment from outside, coursegate or not; with --config, also your backend; with --gateway, your own gateway',
      load: () => import('./doctor.ts'),
    },
    connect: {
      summary: 'connect to a gate as an app would',
      description: 'connect to a gate as an app would, and print what it can read',
      load: () => import('./connect.ts'),
    },
    observed: {
      summary: 'print the routes that a gate in observe mode proposes',
      description: 'print the routes that a gate in observe mode proposes, as YAML for `routes`',
      load: () => import('./observed.ts'),
    },
  },
  'Operate:': {
    console: {
      summary: 'open the operator’s console in a browser',
      description: 'open the operator’s console in a browser, by a link that works once',
      load: () => import('./console.ts'),
    },
    clients: { summary: 'list, show, revoke, disable, enable or delete apps', load: () => import('./clients.ts') },
    members: { summary: 'list, show, revoke, suspend or resume members', load: () => import('./members.ts') },
    grants: { summary: 'revoke a grant', load: () => import('./grants.ts') },
    keys: { summary: 'list, rotate, import or remove the signing keys', load: () => import('./keys.ts') },
    events: { summary: 'test, list or retry the events sent to the backend', load: () => import('./events.ts') },
  },
  'Help:': {
    completion: {
      summary: 'print the completion script of your shell',
      description: 'print a script that completes commands, options and files when you press Tab',
      load: () => import('./completion.ts'),
    },
  },
};
