import { printable } from '../../connect/printable.ts';
import { UsageError } from '../../usage-error.ts';
import { addressOf, chosen, DEFAULT_TIMEOUT, type DoctorOptions, PATIENCE, type Report } from '../doctor.ts';
import { verdictsOf } from '../examine.ts';
import { type Finding, finding, type Verdict } from '../finding.ts';
import { NoAnswer, Unavailable } from '../unavailable.ts';
import { findOut, type GatewayCheck, missing } from './check.ts';
import { GATEWAY_CHECKS } from './checks/checks.ts';
import { AUTH_DOWN } from './checks/open.ts';
import { type EchoServer, startEchoServer } from './echo.ts';
import { createGateway, type ExaminedGateway } from './gateway.ts';
import { readersOf } from './readings.ts';

type Shared = 'only' | 'skip' | 'timeout' | 'signal' | 'patience' | 'ca' | 'now' | 'begin' | 'progress';

export interface GatewayDoctorOptions extends Pick<DoctorOptions, Shared> {
  /** The origin of the gateway, such as https://school.example. */
  readonly url: string;
  /** A protected path that reaches the echo server. */
  readonly echo: string;
  /** A path that needs no token and reaches the echo server; '/' by default. */
  readonly open?: string | undefined;
  /** A protected path that needs a scope which the token does not have. */
  readonly forbidden?: string | undefined;
  /** An access token that opens the echo path. */
  readonly token?: string | undefined;
  /** Where to start an echo server for the time of the audit, such as 127.0.0.1:8099. */
  readonly echoServer?: string | undefined;
  /** Whether the auth service is stopped: then the only question is whether nothing gets through. */
  readonly authDown?: boolean;
}

/**
 * Attacks a gateway that asks an auth service about each request, and reports what reached the backend although it
 * should not. Throws UsageError for unusable options.
 */
export async function examineGateway(options: GatewayDoctorOptions): Promise<Report> {
  const { origin } = addressOf(options.url);
  const [echoPath, openPath] = [pathOf(options.echo).replace(/\/+$/, ''), pathOf(options.open ?? '/')];
  const forbiddenPath = options.forbidden === undefined ? undefined : pathOf(options.forbidden);
  if (echoPath === '') throw new UsageError('--echo must name a path below the root, such as /echo.');
  if (readersOf(openPath, echoPath) !== undefined)
    throw new UsageError(`--public must name a path that is not below ${echoPath}.`);
  const token = tokenOf(options.token);
  const checks = chosen(options.authDown === true ? AUTH_DOWN : GATEWAY_CHECKS, options);
  const echoServer = options.echoServer === undefined ? undefined : await echoServerAt(options.echoServer);
  const now = options.now ?? Date.now;
  const begun = now();
  options.begin?.(origin + echoPath);
  const late = AbortSignal.timeout((options.timeout ?? DEFAULT_TIMEOUT) * 1000);
  const signal = options.signal === undefined ? late : AbortSignal.any([late, options.signal]);
  const to = { origin, ca: options.ca, patience: options.patience ?? PATIENCE, signal };
  try {
    const result = await attack(
      createGateway({ to, echoPath, openPath, forbiddenPath, token, echoServer }),
      checks,
      options.progress,
    );
    return {
      url: origin + echoPath,
      startedAt: new Date(begun),
      seconds: Math.round((now() - begun) / 100) / 10,
      ...result,
      complete: result.unreachable === undefined && !signal.aborted,
      leftBehind: [],
    };
  } finally {
    await echoServer?.close();
  }
}

/** Runs the checks one after the other: what the backend receives must belong to a known attack. */
async function attack(
  gateway: ExaminedGateway,
  checks: readonly GatewayCheck[],
  progress: GatewayDoctorOptions['progress'],
): Promise<Pick<Report, 'unreachable' | 'findings'>> {
  const findings: Finding[] = [];
  try {
    const found = await findOut(gateway);
    for (const one of checks) {
      const why = missing(one, gateway, found);
      const verdicts =
        why === undefined
          ? await verdictsOf(() => one.run(gateway, found))
          : [{ level: 'skipped' as const, seen: why }];
      findings.push(...fewOf(verdicts).map((verdict) => finding(one, verdict)));
      progress?.(checks.indexOf(one) + 1, checks.length);
    }
    return { findings };
  } catch (thrown) {
    if (thrown instanceof NoAnswer || thrown instanceof Unavailable)
      return { unreachable: printable(thrown.message), findings };
    throw thrown;
  }
}

/** The most findings of one check in a report. They have one cause, and one fix. */
const MOST = 5;

function fewOf(verdicts: readonly Verdict[]): readonly Verdict[] {
  const last = verdicts[MOST - 1];
  if (last === undefined || verdicts.length <= MOST) return verdicts;
  return [
    ...verdicts.slice(0, MOST - 1),
    { ...last, seen: `${last.seen} (and ${verdicts.length - MOST} more like it)` },
  ];
}

/** A path as typed. What is attacked with must not be a trick itself. */
function pathOf(typed: string): string {
  if (!/^\/[\w.~/-]*$/.test(typed) || /\/\/|\/\.\.?(\/|$)/.test(typed))
    throw new UsageError(`"${typed}" is not a plain path such as /echo.`);
  return typed;
}

/** RFC 6750 section 2.1. The value is never printed. */
function tokenOf(given: string | undefined): string | undefined {
  if (given === undefined || given === '') return undefined;
  if (!/^[\w.~+/-]+=*$/.test(given)) throw new UsageError('The token has characters that no bearer token has.');
  return given;
}

async function echoServerAt(address: string): Promise<EchoServer> {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(address) ?? [];
  if (host === undefined || Number(port) > 65_535)
    throw new UsageError(`"${address}" is not an address such as 127.0.0.1:8099.`);
  return startEchoServer(host.replace(/^\[|\]$/g, ''), Number(port)).catch((thrown: unknown) => {
    const { code = String(thrown) } = Object(thrown) as { code?: string };
    throw new UsageError(`No echo server can be started at ${address} (${code}).`);
  });
}
