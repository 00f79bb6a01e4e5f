import type { AuditOptions } from '../operator/doctor/audit.ts';
import type { DirectoryName } from '../operator/doctor/directory/listing.ts';
import type { Report } from '../operator/doctor/report.ts';
import { programName } from '../operator/program-name.ts';
import { adminClient, type GateFlags } from './admin-client.ts';
import { type Define, readConfig, readProcess } from './command.ts';
import { misused } from './failure.ts';
import { gateOptions } from './operator.ts';
import { assertSchool } from './school-option.ts';
import type { Terminal } from './terminal.ts';

interface DoctorFlags extends GateFlags {
  readonly register: boolean;
  readonly only?: string;
  readonly skip?: string;
  readonly timeout: string;
  readonly json: boolean;
  readonly directory?: DirectoryName;
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
const WITH_GATEWAY = ['echo', 'echoServer', 'public', 'forbidden', 'authDown'] as const;

export const define: Define = (command, terminal) => {
  gateOptions(
    command,
    'also, or instead of a URL: check the backend from the side of the gate with this configuration',
  ).action(async (url: string | undefined, flags: DoctorFlags) => {
    const { exitCode, toJson } = await import('../operator/doctor/report.ts');
    const { toText } = await import('../operator/doctor/report-text.ts');
    const { json } = flags;
    const timeout = Number(flags.timeout);
    if (!(timeout > 0 && timeout <= 3600)) throw misused('--timeout must be a number of seconds from 1 to 3600.');
    const ids = (list: string | undefined) => list?.split(',').map((id) => id.trim()) ?? [];
    const { progressOf } = await import('./progress.ts');
    const progress = progressOf(terminal, 'Checking');
    const audit: AuditOptions = {
      only: ids(flags.only),
      skip: ids(flags.skip),
      timeout,
      signal: terminal.interrupted(),
      ...(json ? {} : { begin: (doing) => terminal.tell(`${doing} …`), progress: progress.at }),
    };
    const report = await run(url, flags, terminal, audit).finally(() => progress.done());
    terminal.print(
      json
        ? `${JSON.stringify(toJson(report), undefined, 2)}\n`
        : toText(report, { width: terminal.width, colour: terminal.colour() }),
    );
    const { nothing } = report;
    if (nothing !== undefined && !json) {
      const { origin } = new URL(report.url);
      const next = nothing.elsewhere === undefined ? `init --upstream ${origin}` : `doctor ${nothing.elsewhere}`;
      terminal.tell(`Try: ${programName()} ${next}`);
    }
    terminal.end(exitCode(report));
  });
};

async function run(
  url: string | undefined,
  flags: DoctorFlags,
  terminal: Terminal,
  audit: AuditOptions,
): Promise<Report> {
  const { gateway, register, config, directory } = flags;
  const given = (names: readonly (keyof DoctorFlags)[]) =>
    names
      .find((name) => flags[name] !== undefined && flags[name] !== false)
      ?.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (gateway !== undefined) {
    const others = (config === undefined) !== (flags.school === undefined);
    if (url !== undefined || register || directory !== undefined || others)
      throw misused(
        '--gateway takes neither another URL nor --register or --directory, and --config only together with --school.',
      );
    return gatewayReport(gateway, flags, terminal, audit);
  }
  const [gatewayOnly, configOnly] = [given(WITH_GATEWAY), given(WITH_CONFIG)];
  if (gatewayOnly !== undefined) throw misused(`--${gatewayOnly} needs --gateway.`);
  if (directory !== undefined && configOnly !== undefined)
    throw misused(`--${configOnly} does not go with --directory.`);
  if (directory !== undefined) return listingReport(directory, url, flags, terminal, audit);
  if (flags.token !== undefined) throw misused('--token needs --gateway or --directory.');
  const { doctor } = await import('../operator/doctor/doctor.ts');
  if (config === undefined) {
    if (configOnly !== undefined) throw misused(`--${configOnly} needs --config.`);
    if (url === undefined) throw misused('Give the URL of the site, --config, or --gateway and --echo.');
    return doctor({ url, register, ...audit });
  }
  if (url === undefined) {
    if (register) throw misused('--register needs a URL.');
    return backendReport(config, flags, terminal, audit);
  }
  const { CHECKS } = await import('../operator/doctor/checks/checks.ts');
  const { BACKEND_CHECKS } = await import('../operator/doctor/backend/checks/checks.ts');
  // A configuration was given, so there is a gate: if none is found at the URL, that is a failure.
  const outside = await doctor({ url, register, insist: true, ...audit, others: [BACKEND_CHECKS] });
  const inside = await backendReport(config, flags, terminal, { ...audit, others: [CHECKS] });
  return {
    ...outside,
    seconds: Math.round((outside.seconds + inside.seconds) * 10) / 10,
    complete: outside.complete && inside.complete,
    findings: [...outside.findings, ...inside.findings],
  };
}

/** Checks the backend from the gate's side. */
async function backendReport(
  config: string,
  flags: DoctorFlags,
  terminal: Terminal,
  audit: AuditOptions,
): Promise<Report> {
  const { examineBackend } = await import('../operator/doctor/backend/backend-doctor.ts');
  const { member, signIn, browser, json, timeout } = flags;
  const { openBrowser } = await import('../operator/connect/open-browser.ts');
  const { waitFor } = await import('./progress.ts');
  const loaded = await readConfig(config, terminal, flags.school);
  return examineBackend({
    loaded,
    async changedTools() {
      const { changedTools } = await import('../mcp/tool-server/changes.ts');
      const changes = await changedTools(loaded.config, terminal.environment);
      return changes.map(({ tool }) => tool.name);
    },
    admin: await adminClient(flags, terminal),
    ...audit,
    member,
    signIn: signIn
      ? {
          print: terminal.tell,
          timeout: Number(timeout),
          wait: json ? undefined : (what) => waitFor(terminal, what),
          open: browser ? openBrowser : undefined,
        }
      : undefined,
  });
}

/** Holds a deployment against the rules of a directory. */
async function listingReport(
  directory: DirectoryName,
  url: string | undefined,
  { config, school, register, token }: DoctorFlags,
  terminal: Terminal,
  audit: AuditOptions,
): Promise<Report> {
  if (url === undefined) throw misused('--directory needs a URL.');
  const { examineListing } = await import('../operator/doctor/directory/directory-doctor.ts');
  const { configuredTools } = await import('../mcp/configured-tools.ts');
  const loaded = config === undefined ? undefined : await readConfig(config, terminal, school);
  return examineListing({
    ...audit,
    url,
    register,
    directory,
    token: token ?? terminal.environment.COURSEGATE_DOCTOR_TOKEN,
    own: loaded && { support: loaded.config.pages.support, tools: configuredTools(loaded.config.mcp) },
  });
}

/** Attacks a gateway. */
async function gatewayReport(
  url: string,
  { echo, public: open, forbidden, token, echoServer, authDown, config, school }: DoctorFlags,
  terminal: Terminal,
  audit: AuditOptions,
): Promise<Report> {
  if (echo === undefined) throw misused('--gateway needs --echo: a protected path that reaches an echo server.');
  const { examineGateway } = await import('../operator/doctor/gateway/gateway-doctor.ts');
  const given = token ?? terminal.environment.COURSEGATE_DOCTOR_TOKEN;
  const otherHosts = config === undefined ? [] : await otherHostsIn(config, terminal, school);
  return examineGateway({ url, echo, open, forbidden, token: given, otherHosts, echoServer, authDown, ...audit });
}

/** Schools whose hosts are tried beside the one that is audited: a gateway has one rule for all. */
const MOST_OTHERS = 3;

/** The hosts of other schools than this one. */
async function otherHostsIn(file: string, terminal: Terminal, school: string | undefined): Promise<readonly string[]> {
  const main = await readProcess(file, terminal);
  assertSchool(file, main, school);
  const others = [...(main.schools?.files.keys() ?? [])].filter((name) => name !== school).slice(0, MOST_OTHERS);
  const loaded = await Promise.all(others.map((name) => main.schools?.load(name)));
  return loaded.flatMap((one) => (one === undefined ? [] : [new URL(one.config.origin).host]));
}
