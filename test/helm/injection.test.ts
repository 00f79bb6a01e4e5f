import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Manifest, only, render } from './support/chart.ts';
import { TOOLS, toolsPresent } from './support/tools.ts';

const run = promisify(execFile);
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'school', namespace: 'school', labels: { 'coursegate/inject': 'true' } },
  spec: { containers: [{ name: 'school', image: 'school:7' }] },
};

/** The pod after the admission policy, evaluated by the API server's own code without a cluster. */
async function admitted(policy: Manifest, pod: unknown): Promise<Manifest> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-admission-'));
  const files = [join(folder, 'policy.json'), join(folder, 'pod.json')] as const;
  writeFileSync(files[0], JSON.stringify(policy));
  writeFileSync(files[1], JSON.stringify(pod));
  try {
    return JSON.parse((await run(TOOLS.admission, files)).stdout) as Manifest;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The container and volumes that a parent chart would include with the same values. */
const included = async () => {
  const printed = [
    'apiVersion: test/v1',
    'kind: Printed',
    'metadata: { name: pod }',
    'initContainers:',
    '  {{- include "coursegate.container" . | nindent 2 }}',
    'volumes:',
    '  {{- include "coursegate.volumes" . | nindent 2 }}',
  ].join('\n');
  return only(await render('injection.yaml', '--set-json', `extraObjects=${JSON.stringify([printed])}`), 'Printed');
};

describe.skipIf(!toolsPresent())('the injection policy', () => {
  it('adds to a pod what a parent chart would include', async () => {
    const policy = only(await render('injection.yaml'), 'MutatingAdmissionPolicy');
    const { initContainers, volumes } = await included();
    const { spec } = await admitted(policy, POD);
    expect(spec.initContainers).toEqual(initContainers);
    expect(spec.volumes).toEqual(volumes);
    expect(spec.containers).toEqual([expect.objectContaining({ name: 'school', image: 'school:7' })]);
  });

  it('adds it after the existing containers of a pod', async () => {
    const policy = only(await render('injection.yaml'), 'MutatingAdmissionPolicy');
    const spec = {
      ...POD.spec,
      initContainers: [{ name: 'migrate', image: 'school:7' }],
      volumes: [{ name: 'media', emptyDir: {} }],
    };
    const pod = await admitted(policy, { ...POD, spec });
    const names = (list: readonly { name: string }[]) => list.map(({ name }) => name);
    expect(names(pod.spec.initContainers)).toEqual(['migrate', 'coursegate']);
    expect(names(pod.spec.volumes)).toEqual(['media', 'coursegate-config', 'coursegate-tmp']);
  });

  it.each(['containers', 'initContainers'])('ignores a pod that already has a gate in its %s', async (where) => {
    const policy = only(await render('injection.yaml'), 'MutatingAdmissionPolicy');
    const gate = { name: 'coursegate', image: 'coursegate:0.1.0' };
    const pod = {
      ...POD,
      spec: { ...POD.spec, [where]: [...(where === 'containers' ? POD.spec.containers : []), gate] },
    };
    const { spec } = await admitted(policy, pod);
    expect(spec[where].filter((one: { name: string }) => one.name === 'coursegate')).toHaveLength(1);
    expect(spec.volumes).toBeUndefined();
  });

  it('selects labelled pods in the release’s namespace only, and fails closed', async () => {
    const rendered = await render('injection.yaml');
    const policy = only(rendered, 'MutatingAdmissionPolicy');
    expect(policy.spec.matchConstraints).toEqual({
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'school' } },
      objectSelector: { matchLabels: { 'coursegate/inject': 'true' } },
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    });
    expect(policy.spec.failurePolicy).toBe('Fail');
    expect(only(rendered, 'MutatingAdmissionPolicyBinding').spec).toEqual({ policyName: policy.metadata.name });
    expect(only(rendered, 'NetworkPolicy').spec.podSelector.matchLabels).toEqual({ 'coursegate/inject': 'true' });
  });
});
