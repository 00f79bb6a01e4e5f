import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createAuthorizationServer } from '../../src/authorization-server/authorization-server.ts';
import { openKeyring } from '../../src/authorization-server/keyring.ts';
import { asGatewayError } from '../../src/errors.ts';
import type { Outbox } from '../../src/events/outbox.ts';
import { createRevocations } from '../../src/foundation/revocations.ts';
import { withinRequest } from '../../src/http/current-request.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import type { Provenance } from '../../src/http/provenance.ts';
import { RequestRecord } from '../../src/http/request-record.ts';
import { ANONYMOUS } from '../../src/oauth/principal.ts';
import { protectedResource } from '../../src/oauth/protected-resource.ts';
import { resourceIndicators } from '../../src/oauth/resource-indicator.ts';
import { cachedIntrospect } from '../../src/resource-server/cache.ts';
import { proofCheck } from '../../src/resource-server/dpop.ts';
import { createGate } from '../../src/resource-server/gate.ts';
import { createRoleScopes } from '../../src/roles/role-scopes.ts';
import { NO_ROLES } from '../../src/roles/roles.ts';
import { busListeners } from '../../src/storage/bus.ts';
import { type Secrets, sealed } from '../../src/storage/seal.ts';
import type { RawStore, Store } from '../../src/storage/store.ts';
import type { SimulatedBus } from './simulated-bus.ts';
import { clockOf, type Life } from './simulated-time.ts';

export const ORIGIN = 'https://school.example';
/** Where access tokens are shown. */
export const RESOURCE = `${ORIGIN}/account`;
export const SCOPES = ['account:read'] as const;
export const SECRETS: Secrets = ['a secret of the simulation, long enough'];

/** Seconds: no key is due in a schedule. */
const KEY_LIFETIME = 1e10;

/** Seconds: no token expires in a schedule. */
export const TTL = { access: 3600, refresh: 86_400, refreshAbsolute: 864_000, code: 60, replayWindow: 10 };

export interface Answer {
  readonly status: number;
  /** Parsed; undefined if it is not JSON. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** What a gate is connected to. It is another one in the next schedule, because to open a gate takes as long as a schedule. */
export interface Seat {
  life: Life;
  raw: RawStore;
  bus: SimulatedBus;
  /** Resolves when the backend has said that a member may go on. */
  backend: () => Promise<void>;
  /** Called with each action of the audit log. */
  audited: (action: string) => void;
  /** Where events for the backend are written. */
  outbox: Outbox;
}

/** A gate without its listener, its limits and its pages: what decides about codes, tokens and revocations. */
export type SimulatedGate = Awaited<ReturnType<typeof openGate>>;

export async function openGate(seat: Seat) {
  const clock = () => clockOf(seat.life);
  const { store, secrets } = sealed(storeOf(seat), SECRETS);
  const { tellAll, subscribe } = busListeners();
  const bus = { subscribe, announce: () => seat.bus.announce(seat.life), close: async () => {} };
  const keyring = await openKeyring(store, clock, () => KEY_LIFETIME);
  const log = { warn() {} } as never;
  const revocations = createRevocations(bus, log);
  const parts = { seat, clock, store, secrets, keyring, revocations, log };
  const first = newGeneration(parts);
  /** What serves now. */
  let current = first;

  return {
    seat,
    store,
    keyring,
    get server() {
      return current.server;
    },
    /** The bus has a message. */
    hear: tellAll,
    decide: (...given: Parameters<typeof first.decide>) => current.decide(...given),
    post: (...given: Parameters<typeof first.post>) => current.post(...given),
    /** What a reload builds. */
    newGeneration: () => newGeneration(parts),
    /** Serves with another generation, or with the first again. */
    use(next: SimulatedGeneration = first): void {
      current = next;
    },
  };
}

interface GenerationParts {
  readonly seat: Seat;
  readonly clock: () => number;
  readonly store: Store;
  readonly secrets: Secrets;
  readonly keyring: Awaited<ReturnType<typeof openKeyring>>;
  readonly revocations: ReturnType<typeof createRevocations>;
  readonly log: never;
}

/** What a gate builds from one configuration (src: generation/generation.ts), as far as it decides about tokens. */
export type SimulatedGeneration = ReturnType<typeof newGeneration>;

function newGeneration({ seat, clock, store, secrets, keyring, revocations, log }: GenerationParts) {
  let failure: unknown;
  const server = createAuthorizationServer({
    origin: ORIGIN,
    pagesOrigin: ORIGIN,
    indicators: resourceIndicators(ORIGIN, { endpoints: [], parts: [] }),
    resourceRequired: false,
    documentation: `${ORIGIN}/auth.md`,
    roleScopes: createRoleScopes({}, NO_ROLES.of),
    forgetRoles() {},
    defaultScope: [...SCOPES],
    scopesOf: () => SCOPES,
    resourceServers: new Map(),
    languages: ['en'],
    acrValues: [],
    claims: {},
    ttl: TTL,
    redirects: { schemes: [], allow: [], deny: [] },
    renderErrorPage() {},
    onServerError: (error) => {
      failure = error;
    },
    store,
    clock,
    unusedLifetime: 86_400,
    onRevoked: revocations.announce,
    outbox: {
      get active() {
        return seat.outbox.active;
      },
      entries: (event) => seat.outbox.entries(event),
    },
    connector: { knowsAuthTime: false, identify: async () => undefined, signInUrl: () => new URL(ORIGIN) },
    pages: undefined as never,
    scopes: { openid: { kind: 'identity' }, 'account:read': { kind: 'read' } } as never,
    approvalPages: undefined,
    sessions: undefined,
    timeZone: 'UTC',
    registration: undefined,
    audit: ({ action }) => seat.audited(action),
    introspected() {},
    recheck: {
      async ask() {
        await seat.backend();
        return { kind: 'good', version: undefined };
      },
      interval: 0,
      allowUnavailable: false,
    },
    log,
    secrets,
    documents: undefined,
    keyring,
    home: undefined,
    usage: undefined as never,
    connectedApps: { names: { scopes: {} as never, tools: new Map() } },
  });
  const { introspect, clear } = cachedIntrospect(server.introspect, clock);
  const release = revocations.subscribe(clear);
  let wasLookedUp = false;
  const watched = (token: string) => {
    const answer = introspect(token);
    wasLookedUp = answer instanceof Promise;
    return answer;
  };
  const decide = createGate(watched, proofCheck(store, clock), () => clock() / 1000);
  const resource = protectedResource(ORIGIN, '');

  return {
    server,
    /** Hears of revocations no more. */
    release,
    /**
     * What a resource's handler is told about an access token, and whether the gate looks it up, and has it not in its cache.
     * With a proof it is shown with the DPoP scheme.
     */
    decide(token: string, proof?: string) {
      const authorization = [`${proof === undefined ? 'Bearer' : 'DPoP'} ${token}`];
      const shown = { authorization, dpop: proof === undefined ? [] : [proof], method: 'GET', url: RESOURCE };
      const protection = { resource, scopes: new Set(['account:read']), anonymous: 'refuse' };
      const decision = decide(shown, protection as never);
      return { decision, lookedUp: wasLookedUp };
    },
    /** One request with a form, as `serve` hands it over. */
    async post(path: string, form: Readonly<Record<string, string>>, proof?: string): Promise<Answer> {
      failure = undefined;
      const { exchange, answered } = exchangeOf(path, new URLSearchParams(form).toString(), proof);
      try {
        await withinRequest({ provenance: PROVENANCE, userAgent: '' }, () => server.mount.form(exchange));
      } catch (thrown) {
        const { status, code, message } = asGatewayError(thrown);
        const detail = status === 500 ? String((thrown as Error).stack) : message;
        return { status, body: { error: code, error_description: detail } };
      }
      const answer = await answered;
      return answer.status === 500
        ? { ...answer, body: { ...answer.body, detail: String((failure as Error)?.stack) } }
        : answer;
    },
  };
}

export const PROVENANCE: Provenance = {
  clientAddress: '203.0.113.7',
  hops: '203.0.113.7',
  trusted: false,
  requestId: 'simulated',
  traceId: () => '',
  traceFields: () => [],
};

const SOCKET = { encrypted: true, remoteAddress: '203.0.113.7', readable: true, writable: true } as unknown as Socket;

/** A request without a socket, and what is answered to it. */
function exchangeOf(path: string, body: string, proof?: string): { exchange: Exchange; answered: Promise<Answer> } {
  const request = new IncomingMessage(SOCKET);
  Object.assign(request, {
    complete: true,
    method: 'POST',
    url: path,
    headers: {
      host: 'school.example',
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(body.length),
      ...(proof === undefined ? {} : { dpop: proof }),
    },
  });
  request.push(body);
  request.push(null);
  const response = new ServerResponse(request);
  const answered = new Promise<Answer>((resolve) => {
    response.end = ((chunk: unknown) => {
      resolve({ status: response.statusCode, body: parsed(String(chunk ?? '')) });
      return response;
    }) as typeof response.end;
  });
  const record = new RequestRecord(PROVENANCE, 'POST', path);
  const exchange: Exchange = {
    request,
    response,
    target: { path, query: '' },
    principal: ANONYMOUS,
    provenance: PROVENANCE,
    record,
    ownFields: [],
  };
  return { exchange, answered };
}

function parsed(text: string): Answer['body'] {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Passes every call on to the store of the seat. */
export function storeOf(seat: Pick<Seat, 'raw'>): RawStore {
  return {
    get: (...given) => seat.raw.get(...given),
    findBy: (...given) => seat.raw.findBy(...given),
    count: (...given) => seat.raw.count(...given),
    scan: (...given) => seat.raw.scan(...given),
    commit: (...given) => seat.raw.commit(...given),
    sweep: (...given) => seat.raw.sweep(...given),
    compact: (...given) => seat.raw.compact(...given),
    close: async () => {},
  };
}
