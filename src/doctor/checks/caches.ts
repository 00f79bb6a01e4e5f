import { type Answer, field, where } from '../answer.ts';
import type { Question } from '../ask.ts';
import { check } from '../check.ts';
import { failure, problemsOr, type Verdict, warning } from '../finding.ts';

/** Whether caches on the way keep nothing that they must not. */
export const CACHES = [
  check({
    id: 'cache.challenge',
    title: 'No challenge is kept by a cache',
    reference: 'RFC 9111 §3, RFC 9110 §11.6.1',
    fix: 'Send Cache-Control: no-store with 401 and 403, and keep the CDN from caching the API ("Cache Everything" rules).',
    needs: ['doors'],
    async run(_site, { doors }) {
      const problems = doors.flatMap(({ none, bad }) =>
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
    title: 'No answer to a caller with a token comes from a cache',
    reference: 'RFC 9111 §3.5',
    fix: 'Send Cache-Control: private or no-store on everything behind a token, and bypass the cache where Authorization is sent.',
    needs: ['doors'],
    async run({ ask }, { doors }) {
      const problems: Verdict[] = [];
      for (const { url, question } of doors) {
        const asked: Question = {
          ...question,
          headers: { ...question.headers, authorization: 'Bearer coursegate-doctor-cache' },
        };
        await ask(url, asked);
        const again = await ask(url, asked);
        const hit = cacheHit(again);
        // A kept challenge is one of cache.challenge.
        if (hit !== undefined && again.status !== 401 && again.status !== 403)
          problems.push(failure(`${where(again)} with a token is ${again.status} from a cache (${hit})`));
      }
      return problemsOr(problems, 'none');
    },
  }),
  check({
    id: 'cache.metadata',
    title: 'The metadata is kept for a while, and the same for everybody',
    reference: 'RFC 9111 §4.2, §4.1; RFC 9728 §3.2',
    fix: 'Send Cache-Control: public, max-age=300 (an hour at most), no Set-Cookie, and Vary: Origin where the origin is copied back.',
    needs: ['resources', 'server'],
    async run({ ask }, { resources, server }) {
      const problems: Verdict[] = [];
      for (const url of [resources[0].answer.url, server.answer.url]) {
        const answer = await ask(url, { headers: { origin: 'https://coursegate-doctor.invalid' } });
        const age = Number(/(?:s-maxage|max-age)=(\d+)/i.exec(field(answer, 'cache-control'))?.[1] ?? 0);
        if (age > 86_400)
          problems.push(
            warning(
              `${where(answer)} is kept for ${Math.round(age / 3600)} hours: a changed key or endpoint goes unseen`,
            ),
          );
        if (field(answer, 'set-cookie') !== '') problems.push(warning(`${where(answer)} sets a cookie`));
        const copied = !['', '*'].includes(field(answer, 'access-control-allow-origin'));
        if (copied && !/\borigin\b|\*/i.test(field(answer, 'vary')))
          problems.push(warning(`${where(answer)} copies the origin back without Vary: Origin`));
      }
      return problemsOr(problems, field(server.answer, 'cache-control') || 'nothing is said of caching');
    },
  }),
] as const;

/** The field by which an answer says that it comes from a cache. */
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
