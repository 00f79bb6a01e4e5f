import { Command } from 'commander';
import type { Define } from './commands/command.ts';
import { describeFailure, type Typed } from './commands/failure.ts';
import { processTerminal } from './commands/terminal.ts';

interface Entry {
  readonly name: string;
  readonly description: string;
  readonly load: () => Promise<{ readonly define: Define }>;
}

/** Every command. Only the one that is typed is loaded. */
const COMMANDS: readonly Entry[] = [
  {
    name: 'demo',
    description: 'run the gate in front of a small legacy school, with a third-party app beside it',
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
    description: 'ask the running gate whether all is well: exits 0, 1 when it is not, 69 when no gate answers',
    load: () => import('./commands/health.ts'),
  },
  {
    name: 'config',
    description: 'show the configuration as it holds, and its schema',
    load: () => import('./commands/config.ts'),
  },
  {
    name: 'init',
    description: 'look at your site, and write the configuration, the drop-in and the lines for the web server',
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'snippets',
    description: 'print the lines by which a web server passes the gate its paths, and nothing else',
    load: () => import('./commands/snippets.ts'),
  },
  {
    name: 'observed',
    description: 'print the routes that a gate in observe mode proposes, as YAML for `routes`',
    load: () => import('./commands/observed.ts'),
  },
  {
    name: 'clients',
    description: 'list the apps that the gate knows, look at one, revoke, disable, enable or delete it',
    load: () => import('./commands/clients.ts'),
  },
  {
    name: 'members',
    description: 'list the members who let apps in, look at one, revoke, suspend or resume them',
    load: () => import('./commands/members.ts'),
  },
  {
    name: 'grants',
    description: 'list what a member or an app has, and end one or all of it',
    load: () => import('./commands/grants.ts'),
  },
  {
    name: 'keys',
    description: 'list the signing keys, rotate, import, remove and export them',
    load: () => import('./commands/keys.ts'),
  },
  {
    name: 'secret',
    description: 'rotate what the store is sealed with, without losing anything in it',
    load: () => import('./commands/secret.ts'),
  },
  {
    name: 'account',
    description: 'look after what the Account API is made from',
    load: () => import('./commands/account.ts'),
  },
  {
    name: 'events',
    description: 'what the backend is told: try it, list what waits, send it now',
    load: () => import('./commands/events.ts'),
  },
  {
    name: 'backup',
    description: 'copy the store to a new file, while the gate runs too',
    load: () => import('./commands/backup.ts'),
  },
  { name: 'mcp', description: 'the tools for agents', load: () => import('./commands/mcp.ts') },
  {
    name: 'connect',
    description: 'connect to a coursegate as an app would, and print your courses',
    load: () => import('./commands/connect.ts'),
  },
  {
    name: 'doctor',
    description:
      'look a deployment over from the outside, ours or not: exits 1 when something fails, 2 without an answer',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'hash-password',
    description: 'read a password from stdin, and print its hash for the file of a directory',
    load: () => import('./commands/hash-password.ts'),
  },
];

const typed = process.argv.slice(2);
// Of `coursegate help serve` the second is the command.
const named = typed.find((word) => !word.startsWith('-') && word !== 'help');

const program = new Command('coursegate')
  .description('Lets members of an existing course site connect apps and assistants with the login they already have.')
  .version('0.1.0')
  .option('--no-color', 'print without colours, as with the variable NO_COLOR')
  .configureHelp({ showGlobalOptions: true })
  // What commander would print of a failure is rendered with all others, below.
  .configureOutput({ outputError: () => {} })
  .exitOverride()
  .addHelpText('after', '\nStart with:  npm start   (the demo), then  coursegate connect http://localhost:8080');

const terminal = processTerminal(() => program.opts<{ color: boolean }>().color === false);
for (const { name, description, load } of COMMANDS) {
  const command = program.command(name).description(description);
  if (name === named) (await load()).define(command, terminal);
}

/** As much of what was typed as there is a command for. */
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
