import { afterAll, beforeAll } from 'vitest';
import { type ProxyWorld, startProxyWorld } from '../support/proxy-world.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';

/** For all tests of a file: a gate in this process, before an upstream that answers as a test scripts it. */
export function useScriptedGate(): { readonly upstream: ScriptedUpstream; readonly gate: ProxyWorld } {
  let upstream: ScriptedUpstream;
  let gate: ProxyWorld;
  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    gate = await startProxyWorld({ upstream: upstream.url });
  });
  afterAll(async () => {
    await gate.close();
    await upstream.close();
  });
  return {
    get upstream() {
      return upstream;
    },
    get gate() {
      return gate;
    },
  };
}
