import type { Report } from '../tools/doctor/doctor.ts';
import { type Define, withExamples } from './command.ts';
import { CommandFailure, EXIT, misused } from './failure.ts';
import type { Terminal } from './terminal.ts';

interface DoctorFlags {
  readonly register: boolean;
  readonly only?: string;
  readonly skip?: string;
  readonly timeout: string;
  readonly json: boolean;
  readonly gateway?: string;
  readonly echo?: string;
  readonly echoServer?: string;
  readonly public?: string;
  readonly forbidden?: string;
  readonly token?: string;
  readonly authDown: boolean;
}

/** Options that mean something only with --gateway. */
const WITH_GATEWAY = {
  '--echo': 'echo',
  '--echo-server': 'echoServer',
  '--public': 'public',
  '--forbidden': 'forbidden',
  '--token': 'token',
  '--auth-down': 'authDown',
} as const;

export const define: Define = (command, terminal) => {
  withExamples(
    command,
    'https://school.example/mcp',
    'http://localhost:8080 --json',
    '--gateway https://staging.school.example --echo /api/echo --echo-server 127.0.0.1:8099',
  )
    .argument('[url]', 'the URL that you give to clients, such as https://school.example/mcp')
    .option(
      '--register',
      'also run the checks that register an app; registrations are deleted afterwards where possible',
      false,
    )
    .option('--gateway <url>', 'instead: attack your own gateway at this address, to see what reaches the backend')
    .option('--echo <path>', 'with --gateway: a protected path that the gateway routes to an echo server')
    .option('--echo-server <address>', 'with --gateway: run the echo server, at this host and port, for the audit')
    .option('--public <path>', 'with --gateway: an unprotected path that reaches the echo server (default /)')
    .option('--forbidden <path>', 'with --gateway: a protected path that needs a scope which the token does not have')
    .option(
      '--token <token>',
      'with --gateway: an access token that opens the echo path; better in the variable COURSEGATE_DOCTOR_TOKEN',
    )
    .option('--auth-down', 'with --gateway: the auth service is stopped; check only that nothing gets through', false)
    .option('--only <ids>', 'only these checks or themes, separated by commas')
    .option('--skip <ids>', 'all except these')
    .option('--timeout <seconds>', 'limit for the whole run', '120')
    .option('--json', 'print the findings as JSON', false)
    .action(async (url: string | undefined, options: DoctorFlags) => {
      const { DoctorError, exitCode } = await import('../tools/doctor/doctor.ts');
      const { toJson } = await import('../tools/doctor/report-json.ts');
      const { toText } = await import('../tools/doctor/report-text.ts');
      const timeout = Number(options.timeout);
      if (!(timeout > 0 && timeout <= 3600)) throw misused('--timeout must be a number of seconds from 1 to 3600.');
      const ids = (list: string | undefined) => list?.split(',').map((id) => id.trim()) ?? [];
      const begin = (what: string) => (address: string) => {
        if (!options.json) terminal.tell(`${what.replace('URL', address)} …`);
      };
      const shared = {
        only: ids(options.only),
        skip: ids(options.skip),
        timeout,
        signal: terminal.interrupted(),
        begin,
      };
      const { environment } = terminal;
      const report = await run(url, options, environment, shared).catch((thrown: unknown) => {
        throw thrown instanceof DoctorError ? new CommandFailure(thrown.message, { code: EXIT.usage }) : thrown;
      });
      terminal.print(
        options.json
          ? `${JSON.stringify(toJson(report), undefined, 2)}\n`
          : toText(report, { width: terminal.width, colour: terminal.colour() }),
      );
      terminal.end(exitCode(report));
    });
};

interface Shared {
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Announces the audit; `what` contains URL. */
  readonly begin: (what: string) => (address: string) => void;
}

async function run(
  url: string | undefined,
  options: DoctorFlags,
  environment: Terminal['environment'],
  { begin, ...shared }: Shared,
): Promise<Report> {
  const { gateway, echo, register } = options;
  if (gateway === undefined) {
    const alone = Object.entries(WITH_GATEWAY).find(
      ([, name]) => options[name] !== undefined && options[name] !== false,
    );
    if (alone !== undefined) throw misused(`${alone[0]} needs --gateway.`);
    if (url === undefined) throw misused('Give the URL of the site, or --gateway and --echo.');
    const { doctor } = await import('../tools/doctor/doctor.ts');
    return doctor({
      url,
      register,
      ...shared,
      begin: begin(`Checking URL${register ? '' : ' without registering an app'}`),
    });
  }
  if (url !== undefined || register) throw misused('--gateway takes neither another URL nor --register.');
  if (echo === undefined) throw misused('--gateway needs --echo: a protected path that reaches an echo server.');
  const { examineGateway } = await import('../tools/doctor/gateway/gateway-doctor.ts');
  const { public: open, forbidden, token = environment.COURSEGATE_DOCTOR_TOKEN, echoServer, authDown } = options;
  return examineGateway({
    url: gateway,
    echo,
    authDown,
    ...shared,
    begin: begin('Attacking URL'),
    ...(open === undefined ? {} : { open }),
    ...(forbidden === undefined ? {} : { forbidden }),
    ...(token === undefined ? {} : { token }),
    ...(echoServer === undefined ? {} : { echoServer }),
  });
}
