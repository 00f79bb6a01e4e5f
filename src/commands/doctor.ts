import type { Report } from '../operator/doctor/report.ts';
import { programName } from '../operator/program-name.ts';
import { adminClient, type GateFlags } from './admin-client.ts';
import { type Define, readConfig, withExamples, withExits } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { misused } from './failure.ts';
import { gateOptions } from './operator.ts';
import type { Terminal } from './terminal.ts';

interface DoctorFlags extends GateFlags {
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
  readonly member?: string;
  readonly signIn: boolean;
  readonly browser: boolean;
}

/** Options that mean something only with --config, and only with --gateway. */
const WITH_CONFIG = ['admin', 'cert', 'key', 'member', 'signIn'] as const;
const WITH_GATEWAY = ['echo', 'echoServer', 'public', 'forbidden', 'token', 'authDown'] as const;

export const define: Define = (command, terminal) => {
  withExits(command, {
    [EXIT.ok]: 'no check failed',
    [EXIT.failure]: 'a check failed',
    [EXIT.unanswered]: 'nothing to examine, or the time was over before all checks had run',
  });
  const described = withExamples(
    command,
    'https://school.example/mcp',
    'https://school.example/mcp --config coursegate.yaml',
    '--config coursegate.yaml --member 17',
    '--config coursegate.yaml --sign-in',
    'http://localhost:8080 --json',
    '--gateway https://staging.school.example --echo /api/echo --echo-server 127.0.0.1:8099',
  ).argument('[url]', 'the URL that you give to clients, such as https://school.example/mcp');
  gateOptions(
    described,
    'also, or instead of a URL: check the backend from the side of the gate with this configuration',
  )
    .option('--member <id>', 'with --config: the id of a member, for the checks that need one')
    .option(
      '--sign-in',
      'with --config: sign in as a member in your browser, through the running gate, and check what that member gets',
      false,
    )
    .option('--no-browser', 'with --sign-in: print the address to open instead of opening it')
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
      const { exitCode } = await import('../operator/doctor/report.ts');
      const { toJson } = await import('../operator/doctor/report-json.ts');
      const { toText } = await import('../operator/doctor/report-text.ts');
      const timeout = Number(options.timeout);
      if (!(timeout > 0 && timeout <= 3600)) throw misused('--timeout must be a number of seconds from 1 to 3600.');
      const ids = (list: string | undefined) => list?.split(',').map((id) => id.trim()) ?? [];
      const { progressOf } = await import('./progress.ts');
      const progress = progressOf(terminal, 'Checking');
      const begin = (what: string) => (address: string) => {
        if (!options.json) terminal.tell(`${what.replace('URL', address)} …`);
      };
      const shared = {
        only: ids(options.only),
        skip: ids(options.skip),
        timeout,
        signal: terminal.interrupted(),
        begin,
        ...(options.json ? {} : { progress: progress.at }),
      };
      const report = await run(url, options, terminal, shared).finally(() => progress.done());
      terminal.print(
        options.json
          ? `${JSON.stringify(toJson(report), undefined, 2)}\n`
          : toText(report, { width: terminal.width, colour: terminal.colour() }),
      );
      const { nothing } = report;
      if (nothing !== undefined && !options.json) {
        const { origin } = new URL(report.url);
        const next = nothing.elsewhere === undefined ? `init --upstream ${origin}` : `doctor ${nothing.elsewhere}`;
        terminal.tell(`Try: ${programName()} ${next}`);
      }
      terminal.end(exitCode(report));
    });
};

interface Shared {
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly progress?: (done: number, total: number) => void;
  /** Announces the audit; `what` contains URL. */
  readonly begin: (what: string) => (address: string) => void;
}

type Talking = Pick<Terminal, 'environment' | 'tell' | 'progress'>;

async function run(url: string | undefined, options: DoctorFlags, terminal: Talking, shared: Shared): Promise<Report> {
  const alone = (names: readonly (keyof DoctorFlags)[]) =>
    names
      .find((name) => options[name] !== undefined && options[name] !== false)
      ?.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (options.gateway !== undefined) {
    if (url !== undefined || options.register || options.config !== undefined)
      throw misused('--gateway takes neither another URL nor --config or --register.');
    return gatewayReport(options.gateway, options, terminal, shared);
  }
  const [gatewayOnly, configOnly] = [alone(WITH_GATEWAY), alone(WITH_CONFIG)];
  if (gatewayOnly !== undefined) throw misused(`--${gatewayOnly} needs --gateway.`);
  if (options.config === undefined) {
    if (configOnly !== undefined) throw misused(`--${configOnly} needs --config.`);
    if (url === undefined) throw misused('Give the URL of the site, --config, or --gateway and --echo.');
    return siteReport(url, options, shared, []);
  }
  if (url === undefined) {
    if (options.register) throw misused('--register needs a URL.');
    return backendReport(options, terminal, shared, []);
  }
  const { CHECKS } = await import('../operator/doctor/checks/checks.ts');
  const { BACKEND_CHECKS } = await import('../operator/doctor/backend/checks/checks.ts');
  const outside = await siteReport(url, options, shared, [BACKEND_CHECKS]);
  const inside = await backendReport(options, terminal, shared, [CHECKS]);
  return {
    ...outside,
    seconds: Math.round((outside.seconds + inside.seconds) * 10) / 10,
    complete: outside.complete && inside.complete,
    findings: [...outside.findings, ...inside.findings],
  };
}

type OtherChecks = readonly (readonly { readonly id: string }[])[];

/** Checks a site from the outside. `others`: the checks that run besides. */
async function siteReport(
  url: string,
  { register, config }: DoctorFlags,
  { begin, ...shared }: Shared,
  others: OtherChecks,
): Promise<Report> {
  const { doctor } = await import('../operator/doctor/doctor.ts');
  const how = register ? '' : ' without registering an app';
  // With the configuration of a gate, there is one, even if nothing of it can be seen.
  const insist = config !== undefined;
  return doctor({ url, register, insist, others, ...shared, begin: begin(`Checking URL${how}`) });
}

/** Checks the backend from the gate's side. */
async function backendReport(
  flags: DoctorFlags,
  terminal: Talking,
  { begin, ...shared }: Shared,
  others: OtherChecks,
): Promise<Report> {
  const { examineBackend } = await import('../operator/doctor/backend/backend-doctor.ts');
  const { config = '', member, signIn, browser, json } = flags;
  const { openBrowser } = await import('../operator/connect/open-browser.ts');
  const { waitFor } = await import('./progress.ts');
  return examineBackend({
    loaded: await readConfig(config, terminal),
    admin: await adminClient(flags, terminal),
    others,
    ...shared,
    begin: begin('Checking the backend of URL from the side of the gate'),
    member,
    signIn: signIn
      ? {
          print: terminal.tell,
          timeout: shared.timeout,
          wait: json ? undefined : (what) => waitFor(terminal, what),
          open: browser ? openBrowser : undefined,
        }
      : undefined,
  });
}

/** Attacks a gateway. */
async function gatewayReport(
  gateway: string,
  options: DoctorFlags,
  { environment }: Talking,
  { begin, ...shared }: Shared,
): Promise<Report> {
  const { echo, public: open, forbidden, token = environment.COURSEGATE_DOCTOR_TOKEN, echoServer, authDown } = options;
  if (echo === undefined) throw misused('--gateway needs --echo: a protected path that reaches an echo server.');
  const { examineGateway } = await import('../operator/doctor/gateway/gateway-doctor.ts');
  return examineGateway({
    ...{ url: gateway, echo, open, forbidden, token, echoServer, authDown },
    ...shared,
    begin: begin('Attacking URL'),
  });
}
