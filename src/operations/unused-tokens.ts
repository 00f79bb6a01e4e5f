import type { Introspect } from '../oauth/introspection.ts';
import { type Clock, type Store, unixSeconds } from '../storage/store.ts';
import type { AuditEvent } from './audit.ts';
import type { Log } from './log.ts';

export type UnusedTokens = ReturnType<typeof unusedTokens>;

export interface UnusedTokensOptions {
  readonly store: Store;
  /** Whether another replica may receive the tokens that this one issued. */
  readonly replicas: boolean;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

/** Seconds that an app has for its first request. */
const PATIENCE = 600;
/** Consecutive unused connections before an app is reported. */
const IN_A_ROW = 3;
/** Connections and apps that are remembered; the oldest are evicted. */
const MOST = 10_000;
const KIND = 'TokenUse';

const ADVICE =
  'Tokens are issued to this app but never presented to the gate. Check the proxies in front of it: bot and AI-crawler rules of the CDN or firewall (allow Claude-User, ChatGPT-User and the paths of the API and /mcp), and that it passes the Authorization field on. `coursegate doctor URL` tries it from outside.';

interface Waiting {
  readonly app: string;
  /** Unix seconds. */
  readonly until: number;
}

/**
 * Finds apps that receive tokens and never use them. Usually a CDN or firewall in front of the gate blocks the app as
 * a bot, and neither the member nor the app learns why.
 */
export function unusedTokens({ store, replicas, clock, log }: UnusedTokensOptions) {
  /** By grant id, oldest first. */
  const waiting = new Map<string, Waiting>();
  /** By app: its number of consecutive unused connections. */
  const rows = new Map<string, number>();
  /** Grants of other replicas whose use has been written to the store. */
  const reported = new Set<string>();
  let unused = 0;

  const came = (app: string): void => {
    if ((rows.get(app) ?? 0) >= IN_A_ROW)
      log.info({ 'oauth.client_host': app }, 'the tokens of this app are used again');
    rows.delete(app);
  };

  const stayedAway = (app: string): void => {
    unused += 1;
    const row = (rows.get(app) ?? 0) + 1;
    rows.delete(app);
    rows.set(app, row);
    forget(rows);
    if (row !== IN_A_ROW) return;
    log.warn(
      { 'event.action': 'tokens_unused', 'oauth.client_host': app, connections: row, minutes: PATIENCE / 60 },
      ADVICE,
    );
  };

  const used = (grantId: string): void => {
    const known = waiting.get(grantId);
    if (known !== undefined) {
      waiting.delete(grantId);
      came(known.app);
    } else if (replicas && !reported.has(grantId)) {
      reported.add(grantId);
      if (reported.size > MOST) reported.clear();
      const expiresAt = unixSeconds(clock) + 2 * PATIENCE;
      const entry = { kind: KIND, id: grantId, payload: '{}', expiresAt, references: {} };
      // If this fails, the other replica may raise one false alarm; the request itself must not fail for it.
      store.commit([{ op: 'put', entry }]).catch(() => reported.delete(grantId));
    }
  };

  return {
    /** Notes tokens that are issued. */
    audited({ action, clientHost, clientId, grantId }: AuditEvent): void {
      if (action !== 'token_issued' || grantId === undefined) return;
      waiting.set(grantId, { app: clientHost ?? clientId ?? '', until: unixSeconds(clock) + PATIENCE });
      forget(waiting);
    },

    /**
     * Wraps introspection to note tokens that are presented. Wrap it below the cache, so that this does not run on
     * every request.
     */
    observed(ask: Introspect): Introspect {
      return async (token) => {
        const answer = await ask(token);
        if (answer.active) used(answer.grantId);
        return answer;
      };
    },

    /** A token was presented to a service that introspected it here. */
    used,

    /**
     * Evaluates the connections whose time for a first request has passed; call it periodically. Rejects with
     * GatewayError `store_unavailable`.
     */
    async evaluate(): Promise<void> {
      const now = unixSeconds(clock);
      for (const [grantId, { app, until }] of waiting) {
        if (until > now) break;
        const elsewhere = replicas && (await store.get(KIND, grantId)) !== undefined;
        // The token may have been used while the store was read.
        if (!waiting.delete(grantId)) continue;
        if (elsewhere) came(app);
        else stayedAway(app);
      }
    },

    /** Number of apps whose latest connections all stayed unused. */
    apps: () => [...rows.values()].filter((row) => row >= IN_A_ROW).length,
    /** Number of connections that stayed unused. */
    connections: () => unused,
  };
}

function forget(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    if (map.size <= MOST) break;
    map.delete(key);
  }
}
