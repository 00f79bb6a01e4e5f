import manifest from '../../../../package.json' with { type: 'json' };
import { carriedOver } from '../../../config/carried-over.ts';
import { pagesOrigin } from '../../../config/pages.ts';
import { openLogin } from '../../../login/open-login.ts';
import { shownUrl } from '../../../login/whoami/question.ts';
import { createLog } from '../../../operations/log.ts';
import { createCallUpstream } from '../../../upstream/call.ts';
import { createPools } from '../../../upstream/pools.ts';
import type { CallUpstream, UpstreamRequest } from '../../../upstream/request.ts';
import type { SiteAnswer } from '../answer.ts';
import { NoAnswer, timeOver, Unavailable, wordsFor } from '../unavailable.ts';
import { findFacts } from './facts.ts';
import type { Installation, InstallationOptions } from './installation.ts';
import { createPages } from './pages.ts';

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

  const send = async (request: UpstreamRequest): Promise<SiteAnswer> => {
    const url = shownUrl(upstreams[request.upstream]?.url ?? '', request.path);
    const { status, headers, body } = await call(request).catch((thrown: unknown) => {
      if (thrown instanceof Unavailable) throw thrown;
      if (signal.aborted) throw timeOver();
      if (request.path === '/') silent.add(request.upstream);
      throw new NoAnswer(`${url}: ${causeOf(thrown)}`, { cause: thrown });
    });
    const { 'set-cookie': cookies, ...others } = headers;
    const set = cookies === undefined ? {} : { 'set-cookie': cookies.split('\n') };
    return { url, method: request.method, status, headers: { ...others, ...set }, text: body, cut: false };
  };

  const parts = {
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
  };
  const login = await openLogin(loginConfig, parts, undefined);
  const pages = createPages(config, send, limits);
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
