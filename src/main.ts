import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { ConfigError, loadConfig } from './config/load.ts';
import { createLog, type Log } from './operations/log.ts';

const EXIT = { ok: 0, failure: 1, config: 78 } as const;

const say = (line: string) => void process.stdout.write(`${line}\n`);
const tell = (line: string) => void process.stderr.write(`${line}\n`);

interface DoctorFlags {
  readonly register: boolean;
  readonly only?: string;
  readonly skip?: string;
  readonly timeout: string;
  readonly json: boolean;
}

interface InitFlags {
  readonly upstream: string;
  readonly origin?: string;
  readonly port: string;
  readonly dir: string;
  readonly framework?: string;
  readonly site: boolean;
  readonly observe: boolean;
  readonly yes: boolean;
  readonly force: boolean;
}

const program = new Command('coursegate')
  .description('Lets members of an existing course site connect apps and assistants with the login they already have.')
  .version('0.1.0')
  .configureHelp({ showGlobalOptions: true })
  .addHelpText('after', '\nStart with:  npm start   (the demo), then  coursegate connect http://localhost:8080');

program
  .command('demo')
  .description('run the gate in front of a small legacy school, with a third-party app beside it')
  .action(async () => {
    const { startDemo } = await import('./demo/demo.ts');
    const demo = await startDemo({ environment: process.env, clock: Date.now });
    untilSignal(() => demo.close());
    tell('');
    tell(`  The school           ${demo.origin}            (behind the gate; alone at ${demo.urls.school})`);
    tell(`  A third-party app    ${demo.urls.client}            (press Connect)`);
    if (demo.urls.graphiql !== undefined)
      tell(`  GraphiQL             ${demo.urls.graphiql}   (or from the app, once connected)`);
    tell('  Members              student@example.com / student   and   other@example.com / other');
    tell(`  On the command line  npx coursegate connect ${demo.origin}`);
    tell('');
    say(`coursegate ready ${demo.origin} profile=${demo.profile}`);
  });

program
  .command('serve')
  .description('run the gate')
  .requiredOption('--config <file>', 'the configuration file')
  .action(async ({ config: file }: { config: string }) => {
    const { startGateway } = await import('./gateway.ts');
    const loaded = await loadConfig({ file, environment: process.env });
    const log = createLog(loaded.config.log.level, 2);
    const gateway = await startGateway({ loaded, log, clock: Date.now, accessDescriptor: 1 });
    onUncaught(log, (seconds) => gateway.close(seconds));
    untilSignal(() => gateway.close());
    say(`coursegate ready ${loaded.config.origin} profile=${loaded.profile}`);
  });

program
  .command('check')
  .description('check a configuration file; starts nothing')
  .argument('<file>', 'the configuration file')
  .action(async (file: string) => {
    const { checkInterfaces } = await import('./interfaces.ts');
    const loaded = await loadConfig({ file, environment: process.env });
    checkInterfaces(loaded);
    const { checkDriver } = await import('./login/database/check-driver.ts');
    await checkDriver(loaded);
    say(
      `${file}: good. ${loaded.config.routes.length} routes, profile ${loaded.profile}, origin ${loaded.config.origin}`,
    );
  });

program
  .command('init')
  .description('look at your site, and write the configuration, the drop-in and the lines for the web server')
  .requiredOption('--upstream <url>', 'where the site listens, such as http://127.0.0.1:8000')
  .option('--origin <url>', 'where members reach it, such as https://school.example; left out, the same')
  .option('--port <number>', 'where the gate is to listen', '8080')
  .option('--dir <folder>', 'where the files go', '.')
  .option(
    '--framework <name>',
    'wordpress, moodle, django, rails, laravel, express, spring or generic; left out, a look',
  )
  .option('--site', 'have everything go through the gate, not only its paths', false)
  .option('--observe', 'let everything through and propose routes from what is used', false)
  .option('--yes', 'ask nothing', false)
  .option('--force', 'write over what is there', false)
  .action(async ({ yes, ...options }: InitFlags) => {
    const { init } = await import('./setup/init/init.ts');
    const stop = new AbortController();
    process.once('SIGINT', () => stop.abort());
    const agree = yes || process.stdin.isTTY !== true ? async () => true : askBeforeWriting;
    const files = await init({ ...options, port: Number(options.port), tell, agree, signal: stop.signal });
    for (const file of files) say(file);
    if (files.length === 0) process.exitCode = EXIT.failure;
  });

program
  .command('snippets')
  .description('print the lines by which a web server passes the gate its paths, and nothing else')
  .requiredOption('--config <file>', 'the configuration file')
  .requiredOption('--for <server>', 'nginx, apache, caddy or traefik')
  .option('--gate <host:port>', 'where the web server reaches the gate; left out, where it listens')
  .action(async ({ config: file, for: server, gate }: { config: string; for: string; gate?: string }) => {
    const { configuredSnippet } = await import('./setup/snippets/configured.ts');
    const { config } = await loadConfig({ file, environment: process.env });
    const { text, notes } = configuredSnippet(config, server, gate);
    for (const note of notes) tell(note);
    process.stdout.write(text);
  });

program
  .command('observed')
  .description('print the routes that a gate in observe mode proposes, as YAML for `routes`')
  .requiredOption('--config <file>', 'the configuration file of the gate that runs')
  .option('--json', 'print everything that was counted, as JSON', false)
  .action(async ({ config: file, json }: { config: string; json: boolean }) => {
    const { askObserved } = await import('./operations/observe/ask-observed.ts');
    const { config } = await loadConfig({ file, environment: process.env });
    process.stdout.write(await askObserved(config, json ? 'json' : 'yaml'));
  });

const account = program.command('account').description('look after what the Account API is made from');

account
  .command('pull')
  .description('record the schemas of GraphQL upstreams, as the configuration names the files')
  .requiredOption('--config <file>', 'the configuration file')
  .option('--upstream <name>', 'of this upstream only')
  .action(async ({ config: file, upstream }: { config: string; upstream?: string }) => {
    const { pullSchemas } = await import('./account/remote/recording.ts');
    for (const line of await pullSchemas(await loadConfig({ file, environment: process.env }), upstream)) say(line);
  });

account
  .command('diff')
  .description('tell how the schemas of GraphQL upstreams differ from what is recorded; exits 1 when they do')
  .requiredOption('--config <file>', 'the configuration file')
  .option('--upstream <name>', 'of this upstream only')
  .action(async ({ config: file, upstream }: { config: string; upstream?: string }) => {
    const { compareSchemas } = await import('./account/remote/recording.ts');
    const lines = await compareSchemas(await loadConfig({ file, environment: process.env }), upstream);
    for (const line of lines) say(line);
    if (lines.length > 0) process.exitCode = EXIT.failure;
    else say('Nothing is different.');
  });

program
  .command('backup')
  .description('copy the store to a new file, while the gate runs too')
  .requiredOption('--config <file>', 'the configuration file')
  .requiredOption('--to <file>', 'the file to make; what is there is never written over')
  .action(async ({ config: file, to }: { config: string; to: string }) => {
    const { backupStore } = await import('./storage/backup.ts');
    const { config, secret } = await loadConfig({ file, environment: process.env });
    const { from, beside } = await backupStore(config.store, to);
    const kept = secret === undefined && beside !== undefined ? beside : `the one that \`secret\` names in ${file}`;
    say(`Copied ${from} to ${to}.`);
    say(`The copy opens with its secret only, which is not in it: ${kept}. Keep that in another place than the copy.`);
  });

const mcp = program.command('mcp').description('the tools for agents');

mcp
  .command('import')
  .description('propose tools from an OpenAPI file, or from the routes, as YAML for mcp.file; changes nothing')
  .requiredOption('--config <file>', 'the configuration file: its routes say which scopes a tool needs')
  .option('--openapi <file>', 'an OpenAPI 3 document, YAML or JSON; left out, the routes are what is proposed from')
  .option('--writes', 'also what may change something', false)
  .action(async ({ config: file, openapi, writes }: { config: string; openapi?: string; writes: boolean }) => {
    const { proposeFromOpenApi, proposeFromRoutes } = await import('./mcp/import.ts');
    const { readPlainYaml, writePlainYaml } = await import('./config/plain-yaml.ts');
    const { config } = await loadConfig({ file, environment: process.env });
    const { tools, notes } =
      openapi === undefined
        ? proposeFromRoutes(config.routes)
        : proposeFromOpenApi(readPlainYaml(await readFile(openapi, 'utf8')), config.routes, { writes });
    for (const note of notes) tell(`left out: ${note}`);
    tell(`${tools.length} tools proposed. Keep the few that help a member, and say in their words what they give.`);
    process.stdout.write(writePlainYaml({ tools }));
  });

program
  .command('connect')
  .description('connect to a coursegate as an app would, and print your courses')
  .argument('<url>', 'the origin of the site, such as https://school.example')
  .option('--scope <scope>', 'the scopes to ask for, separated by spaces')
  .option('--no-browser', 'print the address to open instead of opening it')
  .action(async (url: string, { scope, browser }: { scope?: string; browser: boolean }) => {
    const { connect } = await import('./connect/connect.ts');
    const { openBrowser } = await import('./connect/open-browser.ts');
    const stop = new AbortController();
    process.once('SIGINT', () => stop.abort());
    await connect({
      url,
      print: tell,
      result: say,
      signal: stop.signal,
      ...(scope === undefined ? {} : { scope }),
      ...(browser ? { open: openBrowser } : {}),
    });
  });

program
  .command('doctor')
  .description(
    'look a deployment over from the outside, ours or not: exits 1 when something fails, 2 without an answer',
  )
  .argument('<url>', 'the address that clients are given, such as https://school.example/mcp')
  .option('--register', 'also the checks that register an app; what can be deleted is deleted afterwards', false)
  .option('--only <ids>', 'these checks or themes only, separated by commas')
  .option('--skip <ids>', 'all but these')
  .option('--timeout <seconds>', 'for everything', '120')
  .option('--json', 'print the findings as JSON', false)
  .action(async (url: string, options: DoctorFlags) => {
    const { doctor, exitCode } = await import('./doctor/doctor.ts');
    const { toJson } = await import('./doctor/report-json.ts');
    const { toText } = await import('./doctor/report-text.ts');
    const timeout = Number(options.timeout);
    if (!(timeout > 0 && timeout <= 3600)) throw new Error('--timeout takes seconds, from 1 to 3600.');
    const stop = new AbortController();
    process.once('SIGINT', () => stop.abort());
    const ids = (list: string | undefined) => list?.split(',').map((id) => id.trim()) ?? [];
    const { register } = options;
    const chosen = { only: ids(options.only), skip: ids(options.skip) };
    const begin = (address: string) => {
      if (!options.json) tell(`Looking at ${address}${register ? '' : ', without registering anything'} …`);
    };
    const report = await doctor({ url, register, ...chosen, timeout, signal: stop.signal, begin });
    const { isTTY, columns } = process.stdout;
    const colour = isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
    process.stdout.write(
      options.json
        ? `${JSON.stringify(toJson(report), undefined, 2)}\n`
        : toText(report, { width: columns ?? 80, colour }),
    );
    process.exitCode = exitCode(report);
  });

program
  .command('hash-password')
  .description('read a password from stdin, and print its hash for the file of a directory')
  .action(async () => {
    const { hashPassword } = await import('./login/password-hash.ts');
    const { readPassword } = await import('./login/read-password.ts');
    if (process.stdin.isTTY) tell('The password, and Enter. It is not shown:');
    say(await hashPassword(await readPassword(process.stdin)));
  });

async function askBeforeWriting(files: readonly string[]): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`Write ${files.length} files (${files[0]}, …)? [Y/n] `);
  terminal.close();
  return !/^\s*n/i.test(answer);
}

/** Runs until SIGTERM or SIGINT, closes, and exits 0; a second signal does not wait. */
function untilSignal(close: () => Promise<void>): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      process.once(signal, () => process.exit(EXIT.failure));
      close().then(
        () => process.exit(EXIT.ok),
        (thrown: unknown) => {
          tell(explain(thrown));
          process.exit(EXIT.failure);
        },
      );
    });
  }
}

/**
 * What to do about a throw that nobody caught, an unhandled rejection among them: nobody knows any more what state the
 * process is in, so it takes no more requests, lets those in flight end, and exits 1 within ten seconds, for the
 * supervisor to start a new one. Going on would be a guess. `close` takes the seconds it may wait.
 */
function onUncaught(log: Log, close: (seconds: number) => Promise<void>): void {
  const end = () => process.exit(EXIT.failure);
  let ending = false;
  process.on('uncaughtException', (error, origin) => {
    log.error({ err: error, origin }, 'a failure nobody caught: the process ends');
    if (ending) return;
    ending = true;
    setTimeout(end, 10_000).unref();
    close(8).then(end, end);
  });
}

/** What kept a command from its work, and what to try next, in words for whoever typed it. */
function explain(thrown: unknown): string {
  const error = thrown as NodeJS.ErrnoException & { port?: number; address?: string };
  if (error?.code === 'EADDRINUSE') {
    return `Port ${error.port} is in use. Stop what runs there, or choose others: PORT, ADMIN_PORT, SCHOOL_PORT, CLIENT_PORT (for example PORT=8090 npm start).`;
  }
  if (error?.code === 'EACCES' && error.port !== undefined) {
    return `Port ${error.port} may not be opened by this user. Choose one above 1023.`;
  }
  if (!(thrown instanceof Error)) return String(thrown);
  const cause = thrown.cause instanceof Error ? ` (${thrown.cause.message})` : '';
  return `${thrown.message}${cause}`;
}

try {
  await program.parseAsync(process.argv);
} catch (thrown) {
  tell(explain(thrown));
  process.exitCode = thrown instanceof ConfigError ? EXIT.config : EXIT.failure;
}
