import { UPSTREAM_ANSWERS } from '../../support/upstream-answers.ts';
import { AS_MEMBER, type Attempt, product, request } from '../support/attempt.ts';
import type { ProxyStand } from '../support/proxy-stand.ts';
import type { Family } from '../support/stand.ts';

const LANES = [
  { lane: 'open', target: '/public/x', fields: '' },
  { lane: 'protected', target: '/member/x', fields: AS_MEMBER },
  { lane: 'site', target: '/pages/x', fields: '' },
] as const;

/** Every malformed response on every lane: the client gets the status in the table, and no part of another response. */
export const upstreamAnswers: Family<ProxyStand> = {
  name: 'malformed upstreams',
  attempts: ({ upstream }) =>
    product(UPSTREAM_ANSWERS, LANES).map(
      ([[check, what, bytes, ending, both, site], { lane, target, fields }]): Attempt => {
        const seen = lane === 'site' ? (site ?? both) : both;
        return {
          name: `${check}: ${what}, ${lane}`,
          before: () => {
            // Late bytes of the previous response must not reach this request on a reused connection.
            upstream.hangUp();
            upstream.script((_request, socket) => {
              const [first = '', ...others] = bytes.split('PAUSE');
              socket.write(first, 'latin1');
              // In a later turn of the event loop, so that the gate has begun its response.
              setTimeout(() => {
                for (const other of others) socket.write(other, 'latin1');
                if (ending === 'end') socket.end();
                else if (ending === 'reset') setTimeout(() => socket.resetAndDestroy(), 10);
              }, 20);
            });
          },
          bytes: request('GET', target, fields),
          expected: {
            statuses: [Number(/\d{3}/.exec(seen)?.[0])],
            upstream: [`GET ${target}`],
            ...(seen.startsWith('502 ') || seen.startsWith('504 ') ? { has: new RegExp(`"${seen.slice(4)}"`) } : {}),
            lacks: /X-Member-Id|HTTP\/1\.1 \d{3} [\s\S]*HTTP\/1\.1 \d{3} /i,
          },
        };
      },
    ),
  // The next request gets its own response, on connections that the attempts have left open.
  async after(stand) {
    stand.upstream.hangUp();
    stand.answerWithRecords();
    const flaws: string[] = [];
    for (const { target, fields } of LANES) {
      const expected = { statuses: [200], upstream: [`GET ${target}`], has: /record-of-(?:m-1|nobody)$/ };
      flaws.push(...(await stand.attempt({ name: 'afterwards', bytes: request('GET', target, fields), expected })));
    }
    return flaws;
  },
};
