import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { prometheusPresent } from '../support/prometheus.ts';

const RULES = fileURLToPath(new URL('../../helm/coursegate/files/alerts.yaml', import.meta.url));

/** Series by name and labels, with a value per minute in promtool's notation. */
type Series = Readonly<Record<string, string>>;

interface Case {
  /** Minutes after the first value. */
  readonly at: number;
  readonly fires: Series;
  readonly quiet: readonly Series[];
}

const requests = (status: string) =>
  `coursegate_http_request_duration_seconds_count{job="g",instance="a",status="${status}"}`;
const signIns = (outcome: string) =>
  `coursegate_sign_ins_total{job="g",instance="a",connector="session",outcome="${outcome}"}`;
const of = (name: string, labels = '') => `${name}{job="g",instance="a"${labels}}`;

const ALERTS: Readonly<Record<string, Case>> = {
  CoursegateAbsent: { at: 10, fires: {}, quiet: [{ [of('coursegate_build_info')]: '1x20' }] },
  CoursegateNotReady: {
    at: 10,
    fires: { [of('coursegate_ready')]: '0x20' },
    quiet: [{ [of('coursegate_ready')]: '1x20' }, { [of('coursegate_ready')]: '1x4 0x2 1 0x2 1 0x4' }],
  },
  CoursegateServerErrors: {
    at: 25,
    fires: { [requests('503')]: '0+10x40', [requests('200')]: '0+90x40' },
    quiet: [
      { [requests('503')]: '0+2x40', [requests('200')]: '0+98x40' },
      { [requests('404')]: '0+90x40', [requests('200')]: '0+10x40' },
    ],
  },
  CoursegateStoreFailing: {
    at: 12,
    fires: { [of('coursegate_store_failures_total')]: '0+1x20' },
    quiet: [{ [of('coursegate_store_failures_total')]: '7x20' }],
  },
  CoursegateUpstreamLeftAlone: {
    at: 5,
    fires: { [of('coursegate_upstream_breaker_open', ',upstream="school"')]: '1x10' },
    quiet: [{ [of('coursegate_upstream_breaker_open', ',upstream="school"')]: '0x10' }],
  },
  CoursegateLoginBackendDown: {
    at: 15,
    fires: { [signIns('login_unavailable')]: '0+1x20' },
    quiet: [{ [signIns('login_unavailable')]: '0x5 1x20' }, { [signIns('not_signed_in')]: '0+9x20' }],
  },
  CoursegateLoginFailures: {
    at: 40,
    fires: { [signIns('wrong_credentials')]: '0+20x60' },
    quiet: [
      { [signIns('wrong_credentials')]: '0+20x60', [signIns('success')]: '0+10x60' },
      { [signIns('wrong_credentials')]: '0+1x60' },
    ],
  },
  CoursegateTokenReuse: {
    at: 10,
    fires: { [of('coursegate_audit_events_total', ',action="refresh_token_reuse",outcome="failure"')]: '0x5 1x20' },
    quiet: [
      { [of('coursegate_audit_events_total', ',action="refresh_token_reuse",outcome="failure"')]: '3x20' },
      { [of('coursegate_audit_events_total', ',action="token_refreshed",outcome="success"')]: '0+9x20' },
    ],
  },
  CoursegateCommandsRefused: {
    at: 10,
    fires: { [of('coursegate_audit_events_total', ',action="command_refused",outcome="failure"')]: '0x5 1x20' },
    quiet: [{ [of('coursegate_audit_events_total', ',action="command_refused",outcome="failure"')]: '1x20' }],
  },
  CoursegateReloadFailed: {
    at: 10,
    fires: { [of('coursegate_config_last_reload_successful')]: '0x20' },
    quiet: [{ [of('coursegate_config_last_reload_successful')]: '1x20' }],
  },
  CoursegateSigningKeyOld: {
    at: 90,
    fires: { [of('coursegate_signing_key_age_seconds')]: '15552060+60x100' },
    quiet: [{ [of('coursegate_signing_key_age_seconds')]: '7776000+60x100' }],
  },
  CoursegateTokensUnused: {
    at: 20,
    fires: { [of('coursegate_tokens_unused_apps')]: '1x30' },
    quiet: [{ [of('coursegate_tokens_unused_apps')]: '0x30' }],
  },
  CoursegateEventLoopSlow: {
    at: 15,
    fires: { [of('nodejs_eventloop_lag_p99_seconds')]: '0.5x20', [of('coursegate_build_info')]: '1x20' },
    quiet: [
      { [of('nodejs_eventloop_lag_p99_seconds')]: '0.02x20', [of('coursegate_build_info')]: '1x20' },
      // A Node process that is not a gate.
      { [of('nodejs_eventloop_lag_p99_seconds')]: '0.5x20' },
    ],
  },
  CoursegateEventLoopBlocked: {
    at: 10,
    fires: { [of('coursegate_event_loop_blocked_seconds_sum')]: '0+0.5x20' },
    quiet: [{ [of('coursegate_event_loop_blocked_seconds_sum')]: '7+0.06x20' }],
  },
  CoursegateAccessLogDropped: {
    at: 10,
    fires: { [of('coursegate_access_log_dropped_lines_total')]: '0+5x20' },
    quiet: [{ [of('coursegate_access_log_dropped_lines_total')]: '9x20' }],
  },
};

interface Rule {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

const rules = (parse(readFileSync(RULES, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

it('every alert has a summary, a description, a severity and a test', () => {
  expect(rules.map(({ alert }) => alert).toSorted()).toEqual(Object.keys(ALERTS).toSorted());
  for (const { alert, labels, annotations } of rules) {
    expect(['page', 'ticket'], alert).toContain(labels.severity);
    expect(annotations.summary.length, alert).toBeGreaterThan(10);
    expect(annotations.description.length, alert).toBeGreaterThan(40);
  }
});

describe.skipIf(!prometheusPresent())('the alert rules, checked by promtool', () => {
  const run = promisify(execFile);

  it('are valid Prometheus rules', async () => {
    const { stdout } = await run('promtool', ['check', 'rules', RULES]);
    expect(stdout).toContain(`SUCCESS: ${rules.length} rules found`);
  });

  it('fire when they should, and stay silent otherwise', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-alerts-'));
    const testOf = (alert: string, { at }: Case, series: Series, fires: boolean) => ({
      interval: '1m',
      name: `${alert} ${fires ? 'fires' : 'is quiet'}: ${JSON.stringify(series)}`,
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        {
          expr: `min(ALERTS{alertname="${alert}", alertstate="firing"}) or vector(0)`,
          eval_time: `${at}m`,
          exp_samples: [{ labels: '{}', value: fires ? 1 : 0 }],
        },
      ],
    });
    try {
      const tests = Object.entries(ALERTS).flatMap(([alert, one]) => [
        testOf(alert, one, one.fires, true),
        ...one.quiet.map((series) => testOf(alert, one, series, false)),
      ]);
      // JSON is YAML.
      const file = join(folder, 'tests.yaml');
      writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }));
      const { stdout, stderr } = await run('promtool', ['test', 'rules', file]).catch(
        (failed: { stdout: string; stderr: string }) => failed,
      );
      expect(stdout + stderr).toMatch(/SUCCESS\s*$/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
