import type { Peer } from './peer.ts';

/** No proxy: the baseline of the load generator and the upstream. */
export const direct: Peer = {
  name: 'direct',
  start: async ({ upstream }) => ({ port: upstream.port, roots: [], tokens: [], stop: async () => undefined }),
};
