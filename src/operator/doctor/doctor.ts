import { documentPath } from '../../installation.ts';
import { typedUrl } from '../connect/oauth/transport.ts';
import { printable } from '../connect/printable.ts';
import { UsageError } from '../usage-error.ts';
import { jsonObject, type SiteAnswer } from './answer.ts';
import { createAsk } from './ask.ts';
import { certificateEnd } from './certificate.ts';
import { CHECKS } from './checks/checks.ts';
import { edgeOf } from './edges.ts';
import { examine } from './examine.ts';
import { createFacts } from './facts/create-facts.ts';
import { RESOURCE_METADATA_PATH } from './facts/resource-metadata.ts';
import type { Finding, Level } from './finding.ts';
import { type NotOAuth, notOAuth } from './not-oauth.ts';
import { type Registered, removeAll } from './registrations.ts';
import { type ExaminedSite, patiently } from './site.ts';

/** Which checks of a table are run. */
export interface CheckChoice {
  /** Ids of checks or themes; all by default. */
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  /** Other tables that these ids may be from. */
  readonly others?: readonly (readonly { readonly id: string }[])[];
}

export interface DoctorOptions extends CheckChoice {
  /** The site, or better the URL that clients use, such as https://school.example/mcp. */
  readonly url: string;
  /** Whether the audit may register apps. They are deleted afterwards where possible. */
  readonly register?: boolean;
  /** Seconds for the whole audit. */
  readonly timeout?: number;
  /** Aborts the audit. The report contains what was found so far. */
  readonly signal?: AbortSignal;
  /** Milliseconds for one request, 10,000 by default. */
  readonly patience?: number;
  /** Additional trusted certificates, PEM. */
  readonly ca?: string;
  /** The plain http origin of an https site, by default its port 80. */
  readonly plainOrigin?: string;
  readonly now?: () => number;
  /** Called with the address once it has been validated. */
  readonly begin?: (url: string) => void;
  /** Called with the number of checks that are done, and of all. */
  readonly progress?: (done: number, total: number) => void;
  /** Whether all checks are run even if the site shows nothing of OAuth, because there is known to be a gate. */
  readonly insist?: boolean;
}

/** The findings of an audit. `toJson` is the stable form. */
export interface Report {
  readonly url: string;
  readonly startedAt: Date;
  readonly seconds: number;
  /** Why the site could not be reached. */
  readonly unreachable?: string;
  /** The site answers, but there is nothing of OAuth to examine. */
  readonly nothing?: NotOAuth;
  /** False when there was nothing to examine or the time was over. */
  readonly complete: boolean;
  readonly findings: readonly Finding[];
  /** Ids of clients that were registered for the audit and could not be deleted. */
  readonly leftBehind: readonly string[];
}

export const DEFAULT_TIMEOUT = 120;
export const PATIENCE = 10_000;
/** Bytes: the OpenAPI document of a gate is the longest that is read. */
const LONGEST_BODY = 1024 * 1024;

/**
 * Examines a deployment from the outside, as apps and assistants see it. Works with any OAuth server that has protected
 * resources. Throws UsageError for an invalid address or selection of checks.
 */
export async function doctor(options: DoctorOptions): Promise<Report> {
  const { origin, path } = addressOf(options.url);
  const checks = chosen(CHECKS, options);
  const now = options.now ?? Date.now;
  const begun = now();
  options.begin?.(origin + path);
  const late = AbortSignal.timeout((options.timeout ?? DEFAULT_TIMEOUT) * 1000);
  const signal = options.signal === undefined ? late : AbortSignal.any([late, options.signal]);
  const limits = { ca: options.ca, patience: options.patience ?? PATIENCE, signal, longest: LONGEST_BODY };
  const askAsIs = createAsk({ origin, ...limits });
  const registered = options.register === true ? new Set<Registered>() : undefined;
  const site: ExaminedSite = {
    origin,
    path,
    ask: patiently(askAsIs, signal),
    askAsIs,
    plainOrigin: plainOrigin(origin, options.plainOrigin),
    registered,
    certificateEnd: () => certificateEnd(origin, limits),
    now,
  };

  const unreachable = await reasonUnreachable(site);
  const find = createFacts(site);
  const insist = options.insist === true || (options.only ?? []).length > 0;
  const nothing = unreachable === undefined && !insist ? await notOAuth(site, find) : undefined;
  const isExamined = unreachable === undefined && nothing === undefined;
  const findings = isExamined ? await examine(site, checks, { find, progress: options.progress }) : [];
  // The cleanup may run after the time for the audit is over.
  const tidy = createAsk({ origin, ...limits, signal: AbortSignal.any([]), patience: Math.min(limits.patience, 5000) });
  const leftBehind = await removeAll(tidy, registered ?? new Set());
  return {
    url: origin + path,
    startedAt: new Date(begun),
    seconds: Math.round((now() - begun) / 100) / 10,
    ...(unreachable === undefined ? {} : { unreachable: printable(unreachable) }),
    ...(nothing === undefined ? {} : { nothing }),
    complete: isExamined && !signal.aborted,
    findings,
    leftBehind: leftBehind.map(printable),
  };
}

/**
 * Why nothing can be examined: the site does not answer, or the server in front of it says that nothing does behind it
 * (RFC 9110 sections 15.6.3 to 15.6.5). Every check would then report the same.
 */
async function reasonUnreachable({ askAsIs, origin, path }: ExaminedSite): Promise<string | undefined> {
  try {
    const answer = await askAsIs(origin + path);
    if (!isGatewayError(answer) || !isGatewayError(await askAsIs(origin + RESOURCE_METADATA_PATH))) return undefined;
    return `the web server answers ${answer.status}: is the gate running?`;
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    return /^nothing is listening/.test(why) ? `${why}: is the gate running?` : why;
  }
}

/** Whether a proxy answers in place of a server that is down. A document or an OAuth error is an answer of its own. */
function isGatewayError(answer: SiteAnswer): boolean {
  return [502, 503, 504].includes(answer.status) && jsonObject(answer) === undefined && edgeOf(answer) === undefined;
}

/** 0 when no check fails, 1 when one does, 2 when there was nothing to examine or the time was over. */
export function exitCode({ findings, complete }: Report): 0 | 1 | 2 {
  if (!complete) return 2;
  return findings.some(({ level }) => level === 'failure') ? 1 : 0;
}

/** The number of findings by level. */
export function countLevels(findings: readonly Finding[]): Readonly<Record<Level, number>> {
  const count = { pass: 0, skipped: 0, warning: 0, failure: 0 };
  for (const { level } of findings) count[level] += 1;
  return count;
}

/** The address as typed. Throws UsageError if it is unusable, or contains credentials. */
export function addressOf(typed: string): { origin: string; path: string } {
  const url = typedUrl(typed);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(`"${typed}" is not a web address. Give one such as https://school.example/mcp.`);
  if (url.username !== '' || url.password !== '') throw new UsageError('Give the address without a name and password.');
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') };
}

/** The checks of a table that were asked for. Throws UsageError for an id or theme that no table has. */
export function chosen<T extends { readonly id: string }>(
  table: readonly T[],
  { only = [], skip = [], others = [] }: CheckChoice,
): readonly T[] {
  const means = (wish: string, { id }: { readonly id: string }) => id === wish || id.startsWith(`${wish}.`);
  for (const wish of [...only, ...skip]) {
    if ([table, ...others].flat().some((one) => means(wish, one))) continue;
    throw new UsageError(
      `There is no check "${wish}". See ${documentPath('docs/doctor.md')}, or run without --only and --skip.`,
    );
  }
  return table.filter(
    (one) => (only.length === 0 || only.some((wish) => means(wish, one))) && !skip.some((wish) => means(wish, one)),
  );
}

/** The plain http origin of an https site. Only for port 443, since other ports have no plain counterpart. */
function plainOrigin(origin: string, given: string | undefined): string | undefined {
  if (!origin.startsWith('https:')) return undefined;
  const { hostname, port } = new URL(origin);
  return given ?? (port === '' ? `http://${hostname}` : undefined);
}
