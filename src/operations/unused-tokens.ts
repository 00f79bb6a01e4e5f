import type { Introspect } from '../oauth/introspection.ts';
import { type Clock, jsonEntry, readJson, type Store, unixSeconds } from '../storage/store.ts';
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

/** An app whose latest connections all stayed unused. */
export interface UnusedApp {
  /** Its host; for an app on the member's device its name, too. */
  readonly name: string;
  /** Of the latest of these connections. */
  readonly clientId: string;
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

interface Waiting extends UnusedApp {
  /** Unix seconds. */
  readonly since: number;
}

/**
 * Finds apps that receive tokens and never use them. Usually a CDN or firewall in front of the gate blocks the app as
 * a bot, and neither the member nor the app learns why. An app that uses the tokens of any of its connections is not
 * blocked: then the unused ones are its members' choice.
 */
export function unusedTokens({ store, replicas, clock, log }: UnusedTokensOptions) {
  /** By grant id, oldest first. */
  const waiting = new Map<string, Waiting>();
  /** The names of apps, by client id: an app may be registered again for each member. */
  const names = new Map<string, string>();
  /** By name: the consecutive unused connections of an app. */
  const rows = new Map<string, UnusedApp & { readonly length: number }>();
  /** By name: when an app last used any token, in Unix seconds. */
  const uses = new Map<string, number>();
  /** Uses that were written to the store, for other replicas. */
  const reported = new Set<string>();
  let unused = 0;

  const came = (name: string): void => {
    if ((rows.get(name)?.length ?? 0) >= IN_A_ROW)
      log.info({ 'oauth.client_host': name }, 'the tokens of this app are used again');
    rows.delete(name);
  };

  const stayedAway = ({ name, clientId }: UnusedApp): void => {
    const length = (rows.get(name)?.length ?? 0) + 1;
    keep(rows, name, { name, clientId, length });
    if (length !== IN_A_ROW) return;
    log.warn(
      { 'event.action': 'tokens_unused', 'oauth.client_host': name, connections: length, minutes: PATIENCE / 60 },
      ADVICE,
    );
  };

  /** Writes that an app is at work: once a minute, and for each connection. */
  const report = (grantId: string, clientId: string, at: number): void => {
    const marks = [grantId, `${clientId} ${Math.floor(at / 60)}`];
    if (marks.every((mark) => reported.has(mark))) return;
    if (reported.size > MOST) reported.clear();
    for (const mark of marks) reported.add(mark);
    const entry = jsonEntry(KIND, clientId, { at }, at + 2 * PATIENCE);
    // If this fails, the other replica may raise one false alarm; the request itself must not fail for it.
    store.commit([{ op: 'put', entry }]).catch(() => reported.delete(grantId));
  };

  const usedElsewhere = async (clientId: string, since: number): Promise<boolean> => {
    const use = replicas ? await readJson<{ readonly at: number }>(store, KIND, clientId) : undefined;
    return use !== undefined && use.at >= since;
  };

  const used = (grantId: string, clientId: string): void => {
    const name = names.get(clientId) ?? clientId;
    const at = unixSeconds(clock);
    waiting.delete(grantId);
    keep(uses, name, at);
    came(name);
    if (replicas) report(grantId, clientId, at);
  };

  return {
    /** Notes tokens that are issued. */
    audited({ action, clientHost, clientName, clientId = '', grantId }: AuditEvent): void {
      if (grantId === undefined || (action !== 'token_issued' && action !== 'token_refreshed')) return;
      // All apps on members' devices have the same few hosts.
      const isHost = clientHost?.includes('.') === true;
      const name = isHost ? clientHost : [clientName ?? clientId, clientHost && `(${clientHost})`].join(' ').trim();
      keep(names, clientId, name);
      if (action === 'token_issued') keep(waiting, grantId, { name, clientId, since: unixSeconds(clock) });
    },

    /**
     * Wraps introspection to note tokens that are presented. Wrap it below the cache, so that this does not run on
     * every request.
     */
    observed(ask: Introspect): Introspect {
      return async (token) => {
        const answer = await ask(token);
        if (answer.active) used(answer.grantId, answer.clientId);
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
      for (const [grantId, app] of waiting) {
        const { name, clientId, since } = app;
        if (since + PATIENCE > now) break;
        const here = (uses.get(name) ?? 0) > since;
        const elsewhere = !here && (await usedElsewhere(clientId, since));
        // The token may have been used while the store was read.
        if (!waiting.delete(grantId)) continue;
        if (!elsewhere) unused += 1;
        if (here || elsewhere) came(name);
        else stayedAway(app);
      }
    },

    /** The apps whose latest connections all stayed unused, the latest last. */
    apps: (): readonly UnusedApp[] => [...rows.values()].filter(({ length }) => length >= IN_A_ROW),
    /** Number of connections that stayed unused. */
    connections: () => unused,
  };
}

/** Adds an entry as the newest one, and evicts the oldest if there are too many. */
function keep<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MOST && oldest !== undefined) map.delete(oldest);
}
