import { describe, expect, it } from 'vitest';
import { template } from './support/chart.ts';
import { toolsPresent } from './support/tools.ts';

const refusal = async (args: readonly string[]) => {
  const { code, stderr } = await template('profile-a.yaml', ...args);
  expect(code).not.toBe(0);
  return stderr;
};

describe.skipIf(!toolsPresent())('the chart refuses before installation', () => {
  it.each([
    ['replicas=2', '/redis/existingSecret'],
    ['autoscaling.enabled=true', '/redis/existingSecret'],
    ['replicas=2,config.store.kind=sqlite,config.store.path=/x', "value must be one of 'redis', 'postgres', 'mysql'"],
    ['redis.existingSecret=redis', '/secret/existingSecret'],
    ['replcas=1', "additional properties 'replcas' not allowed"],
    ['image.tagg=1', "'/image': additional properties 'tagg' not allowed"],
    ['config.orgin=https://x', "'/config': additional properties 'orgin' not allowed"],
    ['config.listen.prot=1', "'/config/listen': additional properties 'prot' not allowed"],
    ['config.tokens.access=soon', "'/config/tokens/access'"],
    ['mode=library', "'/mode'"],
    ['image.digest=latest', "'/image/digest'"],
    ['config.origin=null', "'/config/origin': got null"],
  ])('%s, with its schema: %s', async (setting, words) => {
    expect(await refusal(['--set', setting])).toContain(words);
  });

  it.each([
    ['replicas=2', 'for replicas > 1 or autoscaling set redis.existingSecret'],
    ['autoscaling.enabled=true', 'for replicas > 1 or autoscaling set redis.existingSecret'],
    ['redis.existingSecret=redis', 'a redis store needs key material, the same for every replica'],
  ])('%s, even without schema validation, with the message: %s', async (setting, words) => {
    expect(await refusal(['--set', setting, '--skip-schema-validation'])).toContain(words);
  });

  it.each([
    ['a sidecar without pod labels', ['--set', 'mode=sidecar'], 'sidecar.podLabels: set the labels of your pods'],
    [
      'injection on an API server without support',
      ['--set', 'mode=inject', '--kube-version', '1.35.2'],
      'needs Kubernetes 1.36, but this cluster runs v1.35.2',
    ],
    [
      'a backend on the gate’s port',
      ['--set-json', 'backend.container={"image":"x","ports":[{"containerPort":8080}]}'],
      'port 8080 is used by the gate',
    ],
    [
      'a backend on the probes port',
      ['--set-json', 'backend.container={"image":"x","ports":[{"containerPort":9091}]}'],
      'port 9091 is used by the gate',
    ],
    [
      'a file that replaces the configuration',
      ['--set', 'files.coursegate\\.yaml=x'],
      'coursegate.yaml is generated from',
    ],
    ['a Kubernetes version without native sidecars', ['--kube-version', '1.28.9'], 'requires kubeVersion: >=1.29.0-0'],
  ])('%s', async (_, args, words) => {
    expect(await refusal(args)).toContain(words);
  });

  it('no set of replicas with a shared store and a shared secret', async () => {
    const shared = 'replicas=2,redis.existingSecret=redis,secret.existingSecret=gate';
    expect(await template('profile-a.yaml', '--set', shared)).toMatchObject({ code: 0, stderr: '' });
    for (const kind of ['redis', 'postgres', 'mysql']) {
      const named = `replicas=2,config.store.kind=${kind},config.store.url.env=STORE,config.secret.env=SECRET`;
      const { code, stdout, stderr } = await template('profile-a.yaml', '--set', named);
      expect([code, stderr, stdout.includes('type: RollingUpdate')]).toEqual([0, '', true]);
    }
  });
});
