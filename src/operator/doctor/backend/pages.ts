import type { Config } from '../../../config/schema.ts';
import { readSetCookie, type SetCookie } from '../../../http/set-cookie.ts';
import type { UpstreamRequest } from '../../../upstream/request.ts';
import { redirectTarget, type SiteAnswer } from '../answer.ts';
import { createAsk } from '../ask.ts';
import type { ExchangeLimits } from '../unavailable.ts';

export type BackendPages = ReturnType<typeof createPages>;

const BROWSER = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';
const MOST_HOPS = 5;

/**
 * Pages at the gate's origin come from the upstream that has them, so that neither a running gate nor a way out to its
 * public address is needed.
 */
export function createPages(
  config: Config,
  send: (request: UpstreamRequest) => Promise<SiteAnswer>,
  limits: ExchangeLimits,
) {
  const { origin } = config;
  const upstream = config.site?.upstream ?? ('upstream' in config.login ? config.login.upstream : undefined);
  const places = [
    origin,
    ...(upstream === undefined ? [] : [new URL(config.upstreams[upstream]?.url ?? origin).origin]),
  ];

  /** Requests a page and does not follow redirects. Throws NoAnswer, and Unavailable for a place it must not call. */
  const get = async (url: URL, cookie = ''): Promise<SiteAnswer> => {
    const headers = { accept: BROWSER, ...(cookie === '' ? {} : { cookie }) };
    if (upstream === undefined || !places.includes(url.origin))
      return createAsk({ origin: url.origin, ...limits })(url.href, { headers });
    const answer = await send({ upstream, method: 'GET', path: url.pathname + url.search, headers });
    // As browsers see it: relative redirects lead to the origin.
    return { ...answer, url: new URL(url.pathname + url.search, origin).href };
  };

  return {
    get,
    /** Opens a page like a browser: follows redirects, with the cookies that are set. Resolves to every answer in turn. */
    async open(url: URL): Promise<readonly [SiteAnswer, ...SiteAnswer[]]> {
      const jar = new Map<string, string>();
      const first = await get(url);
      const answers: [SiteAnswer, ...SiteAnswer[]] = [first];
      for (let last = first; answers.length <= MOST_HOPS; answers.push(last)) {
        for (const { name, value } of cookiesOf(last)) jar.set(name, value);
        const next = redirectTarget(last);
        if (next === undefined || !/^https?:$/.test(next.protocol)) break;
        // Cookies of one site must not reach another.
        const own = next.origin === url.origin || places.includes(next.origin);
        last = await get(next, own ? [...jar].map(([name, value]) => `${name}=${value}`).join('; ') : '');
      }
      return answers;
    },
  };
}

export function cookiesOf({ headers }: SiteAnswer): readonly SetCookie[] {
  return headers['set-cookie']?.flatMap((field) => readSetCookie(field) ?? []) ?? [];
}
