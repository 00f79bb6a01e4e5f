import { randomUUID } from 'node:crypto';
import type { LoadedConfig } from '../config/load.ts';
import { createCallUpstream } from '../upstream/call.ts';
import { createPools } from '../upstream/pools.ts';
import { eventSender } from './send.ts';

/** What became of a ping, in words. */
export interface Pinged {
  readonly taken: boolean;
  /** Whether anybody answered at all. */
  readonly answered: boolean;
  readonly said: string;
}

/** Sends one `test.ping` now, signed as every event is. In: a configuration that has `events`. */
export async function pingBackend({ config, eventKeys }: LoadedConfig): Promise<Pinged | undefined> {
  const { events, upstreams, origin } = config;
  if (events === undefined) return undefined;
  const { upstream, path } = events;
  const pools = createPools(upstreams);
  const call = createCallUpstream({ upstreams, pools, origin, identity: () => ({}) });
  try {
    const send = eventSender({ call, to: { upstream, path }, keys: eventKeys, clock: Date.now });
    const sent = await send({ type: 'test.ping', id: `msg_${randomUUID()}`, at: Date.now(), data: { origin } });
    switch (sent.kind) {
      case 'taken':
        return { taken: true, answered: true, said: `taken with ${sent.status}` };
      case 'refused':
        return { taken: false, answered: true, said: `refused with ${sent.status}` };
      case 'gone':
        return { taken: false, answered: true, said: 'refused with 410: it would get no events any more' };
      case 'down':
        return { taken: false, answered: /^\d+$/.test(sent.reason), said: `not taken: ${sent.reason}` };
    }
  } finally {
    await pools.close();
  }
}
