import { Command } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import type { Define } from './command.ts';
import { describeFailure, type Typed } from './failure.ts';
import { processTerminal } from './terminal.ts';

type Entry = readonly [name: string, description: string, load: () => Promise<{ readonly define: Define }>];

/** Every command. Only the one on the command line is loaded. */
const COMMANDS: readonly Entry[] = [
  [
    'demo',
    'run the gate in front of a small legacy school, together with a third-party app',
    () => import('./demo.ts'),
  ],
  ['serve', 'run the gate', () => import('./serve.ts')],
  ['check', 'check a configuration file; starts nothing', () => import('./check.ts')],
  [
    'health',
    'check a running gate: exits 0 when healthy, 1 when not, 69 when no gate answers',
    () => import('./health.ts'),
  ],
  ['config', 'print the effective configuration, or its schema', () => import('./config.ts')],
  [
    'init',
    'inspect your site, and write a configuration, a drop-in and snippets for the web server',
    () => import('./init.ts'),
  ],
  [
    'snippets',
    'print the web server configuration that sends the gate its paths, or asks it about them',
    () => import('./snippets.ts'),
  ],
  [
    'export',
    'write the discovery documents as files, for a host that cannot send /.well-known to the gate',
    () => import('./export.ts'),
  ],
  [
    'observed',
    'print the routes that a gate in observe mode proposes, as YAML for `routes`',
    () => import('./observed.ts'),
  ],
  [
    'console',
    'open the operator’s console in a browser, by a link that works once: exits 1 when the gate refuses it, 69 when no gate answers',
    () => import('./console.ts'),
  ],
  ['clients', 'list and show apps; revoke, disable, enable or delete them', () => import('./clients.ts')],
  [
    'members',
    'list and show members with connected apps; revoke, suspend or resume them',
    () => import('./members.ts'),
  ],
  ['grants', 'revoke a grant', () => import('./grants.ts')],
  ['keys', 'list, rotate, import, remove and export the signing keys', () => import('./keys.ts')],
  ['secret', 'rotate the secret that encrypts the store, without losing data', () => import('./secret.ts')],
  ['account', 'maintain the schemas of the Account API', () => import('./account.ts')],
  ['events', 'test, list and retry the events sent to the backend', () => import('./events.ts')],
  ['backup', 'copy the store to a new file, even while the gate runs', () => import('./backup.ts')],
  ['mcp', 'propose tools for agents', () => import('./mcp.ts')],
  ['connect', 'connect to a gate as an app would, and print what it can read', () => import('./connect.ts')],
  [
    'doctor',
    'examine a deployment from outside, coursegate or not, and your backend with --config: exits 1 if a check fails, 2 if the site does not answer',
    () => import('./doctor.ts'),
  ],
  [
    'hash-password',
    'read a password from stdin, and print its hash for a directory file',
    () => import('./hash-password.ts'),
  ],
];

const typed = process.argv.slice(2);
// In `coursegate help serve`, the second word is the command.
const named = typed.find((word) => !word.startsWith('-') && word !== 'help');

const program = new Command('coursegate')
  .description('Lets members of an existing course site connect apps and assistants with the login they already have.')
  .version(manifest.version)
  .option('--no-color', 'print without colours, like the variable NO_COLOR')
  .configureHelp({ showGlobalOptions: true })
  // Failures that commander finds are rendered below, like all others.
  .configureOutput({ outputError: () => {} })
  .exitOverride()
  .addHelpText('after', '\nStart with:  npm start   (the demo), then  coursegate connect http://localhost:8080');

const terminal = processTerminal(() => program.opts<{ color: boolean }>().color === false);
/** The longest prefix of the command line that names a command. */
function understood(): Typed {
  let command = program;
  const words = ['coursegate'];
  for (const word of typed.filter((one) => !one.startsWith('-'))) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    command = next;
    words.push(word);
  }
  return { command: words.join(' '), config: command.opts<{ config?: string }>().config, argument: command.args[0] };
}

/** Runs the command on the command line. */
export async function runProgram(): Promise<void> {
  for (const [name, description, load] of COMMANDS) {
    const command = program.command(name).description(description);
    if (name === named) (await load()).define(command, terminal);
  }
  try {
    await program.parseAsync();
  } catch (thrown) {
    const told = describeFailure(thrown, understood());
    if (told !== undefined) {
      terminal.tell(told.text);
      terminal.end(told.code);
    }
  }
}
