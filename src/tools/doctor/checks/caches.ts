import { type Answer, field, where } from '../answer.ts';
import type { Question } from '../ask.ts';
import { check } from '../check.ts';
import { failure, problemsOr, type Verdict, warning } from '../finding.ts';

/** Whether caches in front of the site store only what they may. */
export const CACHES = [
  check({
    id: 'cache.challenge',
    title: 'Challenges are not cached',
    reference: 'RFC 9111 section 3, RFC 9110 section 11.6.1',
    fix: 'Send Cache-Control: no-store with 401 and 403, and exclude the API from CDN caching ("Cache Everything" rules).',
    needs: ['protectedEndpoints'],
    async run(_site, { protectedEndpoints }) {
      const problems = protectedEndpoints.flatMap(({ none, bad }) =>
        [none, bad].flatMap((answer): Verdict[] => {
          if (answer.status !== 401 && answer.status !== 403) return [];
          const hit = cacheHit(answer);
          if (hit !== undefined) return [failure(`${where(answer)} comes from a cache (${hit})`)];
          const said = field(answer, 'cache-control');
          return /\bpublic\b|max-age=(?!0\b)|s-maxage=(?!0\b)/i.test(said)
            ? [warning(`${where(answer)}: Cache-Control: ${said}`)]
            : [];
        }),
      );
      return problemsOr(problems.slice(0, 1), 'none');
    },
  }),
  check({
    id: 'cache.authenticated',
    title: 'Responses to requests with a token are not cached',
    reference: 'RFC 9111 section 3.5',
    fix: 'Send Cache-Control: private or no-store with every response that needs a token, and bypass the cache for requests with Authorization.',
    needs: ['protectedEndpoints'],
    async run({ ask }, { protectedEndpoints }) {
      const problems: Verdict[] = [];
      for (const { url, question } of protectedEndpoints) {
        const asked: Question = {
          ...question,
          headers: { ...question.headers, authorization: 'Bearer coursegate-doctor-cache' },
        };
        await ask(url, asked);
        const again = await ask(url, asked);
        const hit = cacheHit(again);
        // A cached challenge is reported by cache.challenge.
        if (hit !== undefined && again.status !== 401 && again.status !== 403)
          problems.push(failure(`${where(again)} with a token gets ${again.status} from a cache (${hit})`));
      }
      return problemsOr(problems, 'none');
    },
  }),
  check({
    id: 'cache.metadata',
    title: 'The metadata may be cached briefly, and is the same for everyone',
    reference: 'RFC 9111 sections 4.2, 4.1; RFC 9728 section 3.2',
    fix: 'Send Cache-Control: public, max-age=300 (an hour at most), no Set-Cookie, and Vary: Origin if the origin is echoed.',
    needs: ['resources', 'server'],
    async run({ ask }, { resources, server }) {
      const problems: Verdict[] = [];
      for (const url of [resources[0].answer.url, server.answer.url]) {
        const answer = await ask(url, { headers: { origin: 'https://coursegate-doctor.invalid' } });
        const age = Number(/(?:s-maxage|max-age)=(\d+)/i.exec(field(answer, 'cache-control'))?.[1] ?? 0);
        if (age > 86_400)
          problems.push(
            warning(
              `${where(answer)} is cached for ${Math.round(age / 3600)} hours: changed keys or endpoints go unnoticed`,
            ),
          );
        if (field(answer, 'set-cookie') !== '') problems.push(warning(`${where(answer)} sets a cookie`));
        const copied = !['', '*'].includes(field(answer, 'access-control-allow-origin'));
        if (copied && !/\borigin\b|\*/i.test(field(answer, 'vary')))
          problems.push(warning(`${where(answer)} echoes the origin without Vary: Origin`));
      }
      return problemsOr(problems, field(server.answer, 'cache-control') || 'no Cache-Control');
    },
  }),
] as const;

/** The header field that shows that a response came from a cache. */
function cacheHit(answer: Answer): string | undefined {
  for (const name of [
    'cf-cache-status',
    'x-cache',
    'x-cache-status',
    'x-vercel-cache',
    'x-proxy-cache',
    'x-litespeed-cache',
    'cache-status',
  ]) {
    const said = field(answer, name);
    if (/\bhit\b/i.test(said)) return `${name}: ${said}`;
  }
  const age = Number(field(answer, 'age') || 0);
  return age > 0 ? `Age: ${age}` : undefined;
}
