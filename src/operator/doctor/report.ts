import type { Finding, Level } from './finding.ts';
import type { NotOAuth } from './not-oauth.ts';

/** The findings of an audit. */
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

/** The report for --json (schema/doctor-report.schema.json). Members may be added but never removed. */
export function toJson(report: Report): object {
  const { pass, skipped, warning, failure } = countLevels(report.findings);
  return {
    version: 1,
    url: report.url,
    startedAt: report.startedAt.toISOString(),
    seconds: report.seconds,
    reached: report.unreachable === undefined,
    ...(report.unreachable === undefined ? {} : { unreachable: report.unreachable }),
    ...(report.nothing === undefined ? {} : { nothing: report.nothing }),
    complete: report.complete,
    summary: { passed: pass, skipped, warnings: warning, failures: failure },
    findings: report.findings,
    leftBehind: report.leftBehind,
  };
}
