import { cacheHit, field, type SiteAnswer, where } from '../answer.ts';
import { withToken } from '../facts/protected-endpoints.ts';
import { checkEach, failure, warning } from '../finding.ts';
import { checks } from '../site.ts';

/** Whether caches in front of the site store only what they may. */
export const CACHES = [
  ...checks(['protectedEndpoints'], {
    'cache.challenge': ({ protectedEndpoints }) =>
      checkEach(
        'none',
        protectedEndpoints.flatMap(({ none, bad }) => [none, bad].filter(isRefused)),
        (answer) => {
          const hit = cacheHit(answer);
          if (hit !== undefined) return failure(`${where(answer)} comes from a cache (${hit})`);
          const cacheControl = field(answer, 'cache-control');
          const isCacheable = /\bpublic\b|max-age=(?!0\b)|s-maxage=(?!0\b)/i.test(cacheControl);
          return isCacheable ? warning(`${where(answer)}: Cache-Control: ${cacheControl}`) : undefined;
        },
      ),
    'cache.authenticated': ({ ask, protectedEndpoints }) =>
      checkEach('none', protectedEndpoints, async ({ url, question }) => {
        const request = withToken(question, 'coursegate-doctor-cache');
        await ask(url, request);
        const again = await ask(url, request);
        const hit = cacheHit(again);
        // A cached challenge is reported by cache.challenge.
        if (hit === undefined || isRefused(again)) return undefined;
        return failure(`${where(again)} with a token gets ${again.status} from a cache (${hit})`);
      }),
  }),
  ...checks(['resources', 'server'], {
    'cache.metadata': ({ ask, resources, server }) =>
      checkEach(
        field(server.answer, 'cache-control') || 'no Cache-Control',
        [resources[0].answer.url, server.answer.url],
        async (url) => {
          const answer = await ask(url, { headers: { origin: 'https://coursegate-doctor.invalid' } });
          const at = where(answer);
          const age = Number(/(?:s-maxage|max-age)=(\d+)/i.exec(field(answer, 'cache-control'))?.[1] ?? 0);
          const hours = Math.round(age / 3600);
          const echoes = !['', '*'].includes(field(answer, 'access-control-allow-origin'));
          return [
            age > 86_400 && warning(`${at} is cached for ${hours} hours: changed keys or endpoints go unnoticed`),
            field(answer, 'set-cookie') !== '' && warning(`${at} sets a cookie`),
            echoes &&
              !/\borigin\b|\*/i.test(field(answer, 'vary')) &&
              warning(`${at} echoes the origin without Vary: Origin`),
          ];
        },
      ),
  }),
];

function isRefused({ status }: SiteAnswer): boolean {
  return status === 401 || status === 403;
}
