import { Command } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import type { Define } from './commands/command.ts';
import { describeFailure, type Typed } from './commands/failure.ts';
import { processTerminal } from './commands/terminal.ts';

interface Entry {
  readonly name: string;
  readonly description: string;
  readonly load: () => Promise<{ readonly define: Define }>;
}

/** Every command. Only the one on the command line is loaded. */
const COMMANDS: readonly Entry[] = [
  {
    name: 'demo',
    description: 'run the gate in front of a small legacy school, together with a third-party app',
    load: () => import('./commands/demo.ts'),
  },
  { name: 'serve', description: 'run the gate', load: () => import('./commands/serve.ts') },
  {
    name: 'check',
    description: 'check a configuration file; starts nothing',
    load: () => import('./commands/check.ts'),
  },
  {
    name: 'health',
    description: 'check a running gate: exits 0 when healthy, 1 when not, 69 when no gate answers',
    load: () => import('./commands/health.ts'),
  },
  {
    name: 'config',
    description: 'print the effective configuration, or its schema',
    load: () => import('./commands/config.ts'),
  },
  {
    name: 'init',
    description: 'inspect your site, and write a configuration, a drop-in and snippets for the web server',
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'snippets',
    description: 'print the web server configuration that sends the gate its paths and nothing else',
    load: () => import('./commands/snippets.ts'),
  },
  {
    name: 'observed',
    description: 'print the routes that a gate in observe mode proposes, as YAML for `routes`',
    load: () => import('./commands/observed.ts'),
  },
  {
    name: 'clients',
    description: 'list and show apps; revoke, disable, enable or delete them',
    load: () => import('./commands/clients.ts'),
  },
  {
    name: 'members',
    description: 'list and show members with connected apps; revoke, suspend or resume them',
    load: () => import('./commands/members.ts'),
  },
  {
    name: 'grants',
    description: 'list and revoke the grants of a member or an app',
    load: () => import('./commands/grants.ts'),
  },
  {
    name: 'keys',
    description: 'list, rotate, import, remove and export the signing keys',
    load: () => import('./commands/keys.ts'),
  },
  {
    name: 'secret',
    description: 'rotate the secret that encrypts the store, without losing data',
    load: () => import('./commands/secret.ts'),
  },
  {
    name: 'account',
    description: 'maintain the schemas of the Account API',
    load: () => import('./commands/account.ts'),
  },
  {
    name: 'events',
    description: 'test, list and retry the events sent to the backend',
    load: () => import('./commands/events.ts'),
  },
  {
    name: 'backup',
    description: 'copy the store to a new file, even while the gate runs',
    load: () => import('./commands/backup.ts'),
  },
  { name: 'mcp', description: 'propose tools for agents', load: () => import('./commands/mcp.ts') },
  {
    name: 'connect',
    description: 'connect to a gate as an app would, and print your courses',
    load: () => import('./commands/connect.ts'),
  },
  {
    name: 'doctor',
    description:
      'examine a deployment from the outside, coursegate or not: exits 1 if a check fails, 2 if the site does not answer',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'hash-password',
    description: 'read a password from stdin, and print its hash for a directory file',
    load: () => import('./commands/hash-password.ts'),
  },
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
for (const { name, description, load } of COMMANDS) {
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
