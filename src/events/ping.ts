import { randomUUID } from 'node:crypto';
import type { LoadedConfig } from '../config/load.ts';
import { createCallUpstream } from '../upstream/call.ts';
import { createPools } from '../upstream/pools.ts';
import { eventSender } from './send.ts';

/**
 * Sends one `test.ping`, signed like every event. Says whether the backend took it, and whether it answered at all.
 * Undefined when the configuration has no `events`.
 */
export async function pingBackend({ config, eventKeys }: LoadedConfig) {
  const { events, upstreams, origin } = config;
  if (events === undefined) return undefined;
  const pools = createPools(upstreams);
  const call = createCallUpstream({ upstreams, pools, origin, identity: () => ({}) });
  try {
    const send = eventSender(call, events, eventKeys, Date.now);
    const sent = await send({ type: 'test.ping', id: `msg_${randomUUID()}`, at: Date.now(), data: { origin } });
    switch (sent.kind) {
      case 'taken':
        return { taken: true, answered: true, detail: `accepted with ${sent.status}` };
      case 'refused':
        return { taken: false, answered: true, detail: `refused with ${sent.status}` };
      case 'gone':
        return { taken: false, answered: true, detail: 'refused with 410, which would stop all events' };
      case 'down':
        return { taken: false, answered: /^\d+$/.test(sent.reason), detail: `not accepted: ${sent.reason}` };
    }
  } finally {
    await pools.close();
  }
}
