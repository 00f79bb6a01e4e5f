import { countLevels, type Report } from './report.ts';

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
