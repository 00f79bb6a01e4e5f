import type { Peer } from './peer.ts';

/** No proxy at all: what the load and the upstream alone come to. */
export const direct: Peer = {
  name: 'direct',
  start: async ({ upstream }) => ({ port: upstream.port, roots: [], tokens: [], stop: async () => undefined }),
};
