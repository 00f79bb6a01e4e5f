// Calls that their members approve one by one: those of tools, and requests to routes.

import { ENDPOINTS } from '../authorization-server/endpoints.ts';
import type { LoadedConfig } from '../config/load.ts';
import { pagesOrigin } from '../config/pages.ts';
import type { RouteConfig } from '../config/schema.ts';
import type { Foundation } from '../foundation/foundation.ts';
import { oneAtATime } from '../operations/one-at-a-time.ts';
import { type ForwardRequest, heldRoute } from './held-route.ts';
import { createHold } from './hold.ts';

/** Milliseconds: how late it is audited that an approval has expired. */
const EXPIRE_EVERY = 60_000;

/** What holds the calls of tools and routes. */
export type ApprovalsPart = ReturnType<typeof openApprovals>;

export function openApprovals({ store, clock, audit, log }: Foundation, { config }: LoadedConfig) {
  const pages = pagesOrigin(config) + ENDPOINTS.approvals;
  const { hold, expire } = createHold({ store, clock, audit, pageOf: (id) => `${pages}/${id}` });
  const { upstreams } = config;
  const turn = oneAtATime(expire, 'approvals that expired could not be audited', log);
  let timer: NodeJS.Timeout | undefined;
  return {
    hold,
    route: (entry: RouteConfig, limit: number, forward: ForwardRequest) =>
      heldRoute(entry, { upstreams, hold, limit }, forward),
    start() {
      timer = setInterval(turn, EXPIRE_EVERY).unref();
    },
    async stop() {
      clearInterval(timer);
      await turn.over();
    },
  };
}
