import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LoadedConfig, loadConfig } from '../../src/config/load.ts';
import { createLog } from '../../src/operations/log.ts';
import { type Gateway, startGateway } from '../../src/process/gateway.ts';
import { mounted } from '../support/mounted.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { freePort } from '../support/world.ts';

const RELOADS = 200;
const PATIENCE = { timeout: 60_000, interval: 100 };

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe(`${RELOADS} reloads`, () => {
  let upstreams: readonly [RecordingUpstream, RecordingUpstream];
  let gateway: Gateway;
  let port: number;
  const folder = mounted({ 'coursegate.yaml': '' });
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  /** Every loaded configuration, as long as anything references it. */
  const loads: WeakRef<LoadedConfig>[] = [];
  let number = 0;

  const load = async () => {
    number += 1;
    const { url } = upstreams[number % 2] as RecordingUpstream;
    folder.swap({
      'coursegate.yaml': `
version: 1
profile: B
origin: http://localhost:${port}
name: School ${number}
listen: { port: ${port}, admin: { port: 0 } }
store: { kind: memory }
login: { kind: session, upstream: site, whoami: { path: /me }, loginUrl: /login, cookies: [school] }
upstreams: { site: { url: "${url}" } }
site: { upstream: site }
routes:
  - { match: "GET /public/**", upstream: site, anonymous: serve }
limits: { address: unlimited }
`,
    });
    const loaded = await loadConfig({ file: `${folder.folder}/coursegate.yaml`, environment: {} });
    loads.push(new WeakRef(loaded));
    return loaded;
  };
  /** On the protected lane and on the site lane. */
  const ask = async () => {
    for (const path of ['/public/x', '/a-page']) {
      const answer = await fetch(`http://localhost:${port}${path}`);
      expect(answer.status).toBe(200);
      await answer.text();
    }
  };
  const resources = () => {
    const counts: Record<string, number> = {};
    for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  };

  const alive = () => {
    collect();
    return loads.filter((ref) => ref.deref() !== undefined).length;
  };

  beforeAll(async () => {
    process.on('warning', onWarning);
    upstreams = [await startRecordingUpstream(), await startRecordingUpstream()];
    port = await freePort();
    gateway = await startGateway({ loaded: await load(), log: createLog('silent', 2), clock: Date.now });
  });
  afterAll(async () => {
    process.off('warning', onWarning);
    await gateway.close(0);
    for (const upstream of upstreams) await upstream.close();
    folder.remove();
  });

  it('leave no resource open, and no earlier configuration in memory', async () => {
    await ask();
    await gateway.reload(load);
    await ask();
    const before = resources();
    for (let times = 0; times < RELOADS; times += 1) {
      expect(await gateway.reload(load)).toMatchObject({ kind: 'taken' });
      await ask();
    }
    // The active one, and one that the last turn of the event loop may still reference.
    await expect.poll(alive, PATIENCE).toBeLessThanOrEqual(2);
    for (const kind of ['Timeout', 'TCPSocketWrap', 'FSEventWrap', 'PipeWrap']) {
      const most = (before[kind] ?? 0) + 6;
      await expect.poll(() => resources()[kind] ?? 0, PATIENCE).toBeLessThanOrEqual(most);
    }
    expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([]);
  }, 300_000);

  it('leave nothing behind when they are refused', async () => {
    const before = resources();
    for (let times = 0; times < 20; times += 1) {
      const refused = async () => {
        const loaded = await load();
        // No configuration that was loaded can look like this, so the reload fails halfway.
        return { ...loaded, config: { ...loaded.config, site: { upstream: 'nowhere' } } };
      };
      expect(await gateway.reload(refused)).toMatchObject({ kind: 'refused' });
    }
    await ask();
    await expect.poll(alive, PATIENCE).toBeLessThanOrEqual(2);
    await expect.poll(() => resources().Timeout ?? 0, PATIENCE).toBeLessThanOrEqual((before.Timeout ?? 0) + 6);
  });
});
