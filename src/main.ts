import { Command } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import type { Define } from './commands/command.ts';
import { describeFailure, type Typed } from './commands/failure.ts';
import { processTerminal } from './commands/terminal.ts';

type Entry = readonly [name: string, description: string, load: () => Promise<{ readonly define: Define }>];

/** Every command. Only the one on the command line is loaded. */
const COMMANDS: readonly Entry[] = [
  [
    'demo',
    'run the gate in front of a small legacy school, together with a third-party app',
    () => import('./commands/demo.ts'),
  ],
  ['serve', 'run the gate', () => import('./commands/serve.ts')],
  ['check', 'check a configuration file; starts nothing', () => import('./commands/check.ts')],
  [
    'health',
    'check a running gate: exits 0 when healthy, 1 when not, 69 when no gate answers',
    () => import('./commands/health.ts'),
  ],
  ['config', 'print the effective configuration, or its schema', () => import('./commands/config.ts')],
  [
    'init',
    'inspect your site, and write a configuration, a drop-in and snippets for the web server',
    () => import('./commands/init.ts'),
  ],
  [
    'snippets',
    'print the web server configuration that sends the gate its paths and nothing else',
    () => import('./commands/snippets.ts'),
  ],
  [
    'observed',
    'print the routes that a gate in observe mode proposes, as YAML for `routes`',
    () => import('./commands/observed.ts'),
  ],
  ['clients', 'list and show apps; revoke, disable, enable or delete them', () => import('./commands/clients.ts')],
  [
    'members',
    'list and show members with connected apps; revoke, suspend or resume them',
    () => import('./commands/members.ts'),
  ],
  ['grants', 'revoke a grant', () => import('./commands/grants.ts')],
  ['keys', 'list, rotate, import, remove and export the signing keys', () => import('./commands/keys.ts')],
  ['secret', 'rotate the secret that encrypts the store, without losing data', () => import('./commands/secret.ts')],
  ['account', 'maintain the schemas of the Account API', () => import('./commands/account.ts')],
  ['events', 'test, list and retry the events sent to the backend', () => import('./commands/events.ts')],
  ['backup', 'copy the store to a new file, even while the gate runs', () => import('./commands/backup.ts')],
  ['mcp', 'propose tools for agents', () => import('./commands/mcp.ts')],
  ['connect', 'connect to a gate as an app would, and print your courses', () => import('./commands/connect.ts')],
  [
    'doctor',
    'examine a deployment from the outside, coursegate or not: exits 1 if a check fails, 2 if the site does not answer',
    () => import('./commands/doctor.ts'),
  ],
  [
    'hash-password',
    'read a password from stdin, and print its hash for a directory file',
    () => import('./commands/hash-password.ts'),
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
for (const [name, description, load] of COMMANDS) {
  const command = program.command(name).description(description);
  if (name === named) (await load()).define(command, terminal);
}

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

try {
  await program.parseAsync();
} catch (thrown) {
  const told = describeFailure(thrown, understood());
  if (told !== undefined) {
    terminal.tell(told.text);
    terminal.end(told.code);
  }
}
