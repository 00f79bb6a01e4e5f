import { socketHost } from '../../../http/host.ts';
import { UsageError } from '../../usage-error.ts';
import { type AuditOptions, addressOf, runAudit } from '../audit.ts';
import { findFacts } from '../find-facts.ts';
import type { Verdict } from '../finding.ts';
import type { Report } from '../report.ts';
import { GATEWAY_CHECKS } from './checks/checks.ts';
import { AUTH_DOWN } from './checks/open.ts';
import { type EchoServer, startEchoServer } from './echo.ts';
import { beginAttack, FINDERS } from './facts.ts';
import { createGateway } from './gateway.ts';
import { readersOf } from './got-through.ts';

export interface GatewayDoctorOptions extends AuditOptions {
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
  /** The hosts of other schools that the gateway serves, for which the token is not. */
  readonly otherHosts?: readonly string[] | undefined;
  /** Additional trusted certificates, PEM. */
  readonly ca?: string;
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
  const { ca, authDown, otherHosts = [] } = options;
  const { origin } = addressOf(options.url);
  const [echoPath, openPath] = [pathOf(options.echo).replace(/\/+$/, ''), pathOf(options.open ?? '/')];
  const forbiddenPath = options.forbidden === undefined ? undefined : pathOf(options.forbidden);
  if (echoPath === '') throw new UsageError('--echo must name a path below the root, such as /echo.');
  if (readersOf(openPath, echoPath) !== undefined)
    throw new UsageError(`--public must name a path that is not below ${echoPath}.`);
  const token = tokenOf(options.token);
  const echoServer = options.echoServer === undefined ? undefined : await echoServerAt(options.echoServer);
  try {
    return await runAudit(options, {
      url: origin + echoPath,
      doing: `Attacking ${origin}${echoPath}`,
      checks: authDown === true ? AUTH_DOWN : GATEWAY_CHECKS,
      async open(limits) {
        const to = { origin, ca, ...limits() };
        const examined = await beginAttack(
          createGateway({ to, echoPath, openPath, forbiddenPath, token, otherHosts, echoServer }),
        );
        // One check after the other: what the backend receives must belong to a known attack.
        return { examination: { examined, find: findFacts(examined, FINDERS), review: fewOf } };
      },
    });
  } finally {
    await echoServer?.close();
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
  return startEchoServer(socketHost(host), Number(port)).catch((thrown: unknown) => {
    const { code = String(thrown) } = Object(thrown) as { code?: string };
    throw new UsageError(`No echo server can be started at ${address} (${code}).`);
  });
}
