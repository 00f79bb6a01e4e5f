import manifest from '../../../../package.json' with { type: 'json' };
import type { DocumentNetwork } from '../../../authorization-server/client-documents/network.ts';
import { carriedOver } from '../../../config/carried-over.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import { pagesOrigin } from '../../../config/pages.ts';
import type { Login } from '../../../login/connector.ts';
import { createLogin } from '../../../login/create-login.ts';
import { shownUrl } from '../../../login/whoami/question.ts';
import { createLog } from '../../../operations/log.ts';
import { createCallUpstream } from '../../../upstream/call.ts';
import { createPools } from '../../../upstream/pools.ts';
import type { CallUpstream, UpstreamRequest } from '../../../upstream/request.ts';
import type { Answer } from '../answer.ts';
import { type Limits, NoAnswer, Unavailable, wordsFor } from '../unavailable.ts';
import { findFacts, type InstallationFacts } from './facts.ts';
import { createPages, type Pages } from './pages.ts';
import type { Visit } from './visit.ts';

/** The admin listener of the running gate. */
export interface AdminAccess {
  readonly address: string;
  /** Sends an unsigned GET. Rejects when no gate answers. */
  ask(path: string): Promise<{ readonly status: number; readonly text: string }>;
  /** Sends a signed command. Rejects when it is refused, or no gate answers. */
  command<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T>;
}

/** A configuration with what it connects to, used as the gate would use it. */
export interface Installation {
  readonly loaded: LoadedConfig;
  readonly config: LoadedConfig['config'];
  readonly admin: AdminAccess;
  /** The ID of a member, for the checks that need one. */
  readonly member: string | undefined;
  /** A sign-in of the operator as a member; undefined if there was none. */
  readonly visit: Visit | undefined;
  /** The way to sign in. */
  readonly login: Login;
  /** Calls upstreams like the gate, without counting failures. */
  readonly call: CallUpstream;
  /** The upstreams whose root did not answer. They are not called again. */
  readonly silent: ReadonlySet<string>;
  /** The silent upstream that a check has tried to call since the last time; undefined if it has not. */
  takeMissed(): string | undefined;
  /** Sends a request to an upstream. Throws NoAnswer, and Unavailable for one that is silent. */
  send(request: UpstreamRequest): Promise<Answer>;
  /** Where metadata documents of apps are fetched from. */
  readonly network: DocumentNetwork;
  readonly limits: Limits;
  /** Opens pages as a browser without cookies. */
  readonly pages: Pages;
  /** What several checks build on. Each is determined once. */
  readonly facts: InstallationFacts;
  /** Milliseconds since 1970, by this machine's clock. */
  readonly now: () => number;
  close(): Promise<void>;
}

export type InstallationOptions = Pick<
  Installation,
  'loaded' | 'admin' | 'member' | 'visit' | 'network' | 'limits' | 'now'
>;

const AGENT = `coursegate-doctor/${manifest.version} (audit of a backend, asked for by its operator)`;

export async function openInstallation(options: InstallationOptions): Promise<Installation> {
  const { loaded, limits, now } = options;
  const { signal, patience } = limits;
  const { origin, login: loginConfig } = loaded.config;
  // One upstream that does not answer must not change what later checks find.
  const upstreams = Object.fromEntries(
    Object.entries(loaded.config.upstreams).map(([name, one]) => [
      name,
      { ...one, breaker: { ...one.breaker, failures: 0 } },
    ]),
  );
  const config = { ...loaded.config, upstreams };
  const share = carriedOver().share();
  const pools = createPools(upstreams, undefined, share);
  // No request of the doctor itself acts for a member.
  const callOnce = createCallUpstream({ upstreams, pools, identity: () => ({}), origin });
  const silent = new Set<string>();
  let missed: string | undefined;
  const takeMissed = () => {
    const name = missed;
    missed = undefined;
    return name;
  };
  const call: CallUpstream = async (request) => {
    if (silent.has(request.upstream)) {
      missed = request.upstream;
      throw new Unavailable(`the upstream ${request.upstream} does not answer`);
    }
    const late = AbortSignal.any([signal, AbortSignal.timeout(patience), ...(request.signal ? [request.signal] : [])]);
    return callOnce({ ...request, headers: { 'user-agent': AGENT, ...request.headers }, signal: late });
  };

  const send = async (request: UpstreamRequest): Promise<Answer> => {
    const url = shownUrl(upstreams[request.upstream]?.url ?? '', request.path);
    const { status, headers, body } = await call(request).catch((thrown: unknown) => {
      if (thrown instanceof Unavailable) throw thrown;
      if (signal.aborted) throw new Unavailable('the time for the audit was over');
      if (request.path === '/') silent.add(request.upstream);
      throw new NoAnswer(`${url}: ${causeOf(thrown)}`, { cause: thrown });
    });
    const { 'set-cookie': cookies, ...others } = headers;
    const set = cookies === undefined ? {} : { 'set-cookie': cookies.split('\n') };
    return { url, method: request.method, status, headers: { ...others, ...set }, text: body, cut: false };
  };

  const login = await createLogin(loginConfig, {
    origin,
    pagesOrigin: pagesOrigin(config),
    call,
    clock: now,
    upstreams,
    secrets: loaded.secrets,
    members: loaded.members,
    claims: config.claims,
    log: createLog('silent', 2),
    share,
  });
  const pages = createPages({ config, send, ...limits });
  const found = { ...options, loaded: { ...loaded, config }, config, login, call, send, silent, takeMissed, pages };
  return {
    ...found,
    facts: findFacts(found),
    async close() {
      if (login.shape === 'credentials') await login.close?.();
      await pools.close();
    },
  };
}

/** The innermost reason of a failed call, in words. */
export function causeOf(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return cause instanceof Error ? causeOf(cause) : wordsFor(thrown).replace(/\.$/, '');
}
