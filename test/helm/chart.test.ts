import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';
import { CHART, CI, CI_VALUES, helm, manifests, mistakesOf, only, render, template } from './support/chart.ts';
import { gateIn, placeGate } from './support/rendered-gate.ts';
import { toolsPresent } from './support/tools.ts';

const NEWEST = '1.36.0';
const OLDEST = '1.29.0';
/** The oldest Kubernetes version has no admission policies. */
const versionsOf = (values: string) => (values === 'injection.yaml' ? [NEWEST] : [OLDEST, NEWEST]);
const cases = CI_VALUES.flatMap((values) => versionsOf(values).map((version) => ({ values, version })));

describe.skipIf(!toolsPresent())('the chart', () => {
  it.each(cases)('with $values passes lint and renders valid objects for Kubernetes $version', async (one) => {
    const { values, version } = one;
    const linted = await helm('lint', '--strict', '--kube-version', version, CHART, '--values', `${CI}/${values}`);
    expect(linted.stdout).toMatch(/1 chart\(s\) linted, 0 chart\(s\) failed/);
    const { code, stdout, stderr } = await template(values, '--kube-version', version);
    expect([code, stderr]).toEqual([0, '']);
    expect(manifests(stdout).length).toBeGreaterThan(2);
    expect(await mistakesOf(stdout)).toEqual([]);
  });

  it.each(CI_VALUES)('with %s renders a configuration that the gate accepts', async (values) => {
    const rendered = await render(values);
    const found = rendered.find(({ kind }) => kind === 'Deployment');
    const container = gateIn(found?.spec.template.spec ?? { initContainers: await sidecarOf(values) });
    const gate = placeGate(container, rendered, 'gate-coursegate');
    const checked = runCommand(['check', gate.file], gate.environment);
    expect([await checked.exited, checked.stderr()]).toEqual([0, '']);
    expect(checked.stdout()).toMatch(/origin https:\/\/school\.example|: valid\. 2 schools/);
    gate.remove();
  });

  it('detects a misspelled field with its schemas', async () => {
    const { stdout } = await template('redis.yaml');
    const misspelt = (right: string, wrong: string) => mistakesOf(stdout.replace(right, wrong));
    expect(stdout).toContain('imagePullPolicy');
    expect(await misspelt('imagePullPolicy', 'imagePulPolicy')).toEqual([expect.stringMatching(/imagePulPolicy/)]);
    expect(await misspelt('maxUnavailable: 1\n', 'maxUnavailble: 1\n')).toEqual([
      expect.stringMatching(/maxUnavailble/),
    ]);
    expect(await misspelt('interval: 30s', 'intervall: 30s')).toEqual([expect.stringMatching(/intervall/)]);
    expect(await misspelt('hostnames:', 'hostname:')).toEqual([expect.stringMatching(/hostname/)]);
    expect(await misspelt('kind: ServiceMonitor', 'kind: ServiceMoniter')).toEqual([expect.stringMatching(/schema/)]);
  });
});

/** The templates that a parent chart would include, as rendered by the chart. */
async function sidecarOf(values: string) {
  const printed = ['--set-json', `extraObjects=${JSON.stringify([PRINTED])}`];
  return only(await render(values, ...printed), 'Printed').initContainers;
}

const PRINTED = [
  'apiVersion: test/v1',
  'kind: Printed',
  'metadata: { name: container }',
  'initContainers:',
  '  {{- include "coursegate.container" . | nindent 2 }}',
].join('\n');
