import { afterAll, describe, expect, it } from 'vitest';
import { type ClientPair, type Outcome, startClientPair } from './client-pair.ts';
import { type HostileAnswer, hostileAnswer, random } from './hostile-answers.ts';

/** Answers to compare. The long form: `COURSEGATE_FUZZ_ANSWERS=1000000`. */
const ANSWERS = Number(process.env.COURSEGATE_FUZZ_ANSWERS ?? 3_000);
/** The seed of the first answer. To see a failure again: the seed it printed, with `COURSEGATE_FUZZ_ANSWERS=1`. */
const SEED = Number(process.env.COURSEGATE_FUZZ_SEED ?? 1);
const AT_ONCE = 32;
/** Differences that are printed. */
const MOST_SHOWN = 20;

interface Seen {
  /** All that the upstream has sent. */
  readonly text: string;
  readonly answer: HostileAnswer;
  readonly http1: Outcome;
  readonly undici: Outcome;
}

/**
 * Every difference that may be, each with its reason: what our own client finds wrong, and the same found in the bytes by
 * the test. In all of them our own client is the stricter one, see `judge`.
 */
const REFUSED: Readonly<Record<string, { readonly reason: string; readonly isIn: (text: string) => boolean }>> = {
  'a transfer coding': {
    reason: 'a transfer coding other than chunked alone, or in HTTP/1.0 (RFC 9112 sections 6.1 and 7)',
    isIn: (text) =>
      text.includes('HTTP/1.0') || codings(text).length > 1 || codings(text).some((one) => !/^chunked$/i.test(one)),
  },
  'something that is not HTTP/1': {
    reason: 'another version than HTTP/1, or bytes before the status line (RFC 9112 sections 2.3 and 4)',
    isIn: (text) => !finalResponse(text).startsWith('HTTP/1.'),
  },
  'an invalid status line': {
    reason: 'a control character in the reason phrase (RFC 9112 section 4)',
    isIn: (text) => text.split('\r\n').some((line) => line.startsWith('HTTP/1.') && hasControl(line)),
  },
  'an invalid status': {
    reason: 'a status below 100 (RFC 9110 section 15)',
    isIn: (text) => /^HTTP\/1\.[01] 0\d\d/.test(finalResponse(text)),
  },
  'an interim response with a body': {
    reason: 'an interim response that announces a body (RFC 9110 section 15.2)',
    isIn: (text) => /^HTTP\/1\.[01] 1\d\d/m.test(text),
  },
  'an interim response that is the last one': {
    reason:
      'an interim response that closes the connection (RFC 9112 section 9.6), or is HTTP/1.0 (RFC 9110 section 15.2)',
    isIn: (text) => /^HTTP\/1\.0 1\d\d/m.test(text) || /^connection:.*close/im.test(text),
  },
  'framing with white space behind it': {
    reason: 'white space behind a length or a transfer coding, which undici reads as something else',
    isIn: (text) => /^(content-length|transfer-encoding):.*[ \t]\r$/im.test(text),
  },
  'header fields that are too large': {
    reason: 'more than 16 KiB in a line, a head or trailers (RFC 9110 section 5.4)',
    isIn: (text) => text.length > 16_000,
  },
  'chunk extensions that are too large': {
    reason: 'more than 16 KiB of chunk extensions (RFC 9112 section 7.1.1 suggests a limit)',
    isIn: (text) => /;[^\r]{16000}/.test(text),
  },
  'an invalid chunk extension': {
    reason: 'a chunk extension without a name or a value (RFC 9112 section 7.1.1)',
    isIn: (text) => /^[0-9a-f]+;[^\r]*/im.test(text),
  },
  'an invalid chunk': {
    reason: 'a size of more than 13 digits (RFC 9112 section 7.1: a limit for its length)',
    isIn: (text) => /^[0-9a-f]{14,}/im.test(text),
  },
  'framing in a trailer': {
    reason: 'framing in a trailer (RFC 9110 section 6.5.1)',
    isIn: (text) => /^0+(;.*)?\r\n([\s\S]+\r\n)?(content-length|transfer-encoding):/im.test(text),
  },
};
const NOT_KEPT: readonly { readonly reason: string; readonly isIn: (text: string) => boolean }[] = [
  {
    reason: 'HTTP/1.0, where keep-alive is no standard (RFC 9112 section 9.3)',
    isIn: (text) => finalResponse(text).startsWith('HTTP/1.0'),
  },
  {
    reason: 'empty lines follow the response (RFC 9112 section 9.2)',
    isIn: (text) => /^[\r\n]+$/.test(behind(text)),
  },
  {
    reason: 'the shortest of several timeouts in Keep-Alive counts',
    isIn: (text) => /^keep-alive:.*timeout=[12]\b/im.test(text),
  },
];
const SAME_FOR_CLIENT = 'only the log says whether a truncated response was invalid or its connection was lost';

function codings(text: string): readonly string[] {
  return [...text.matchAll(/^transfer-encoding:[ \t]*(.*?)[ \t]*\r$/gim)].map(([, coding]) => coding as string);
}

/** Everything from the first head that is not the head of an interim response. */
function finalResponse(text: string): string {
  return text.replace(/^(?:HTTP\/1\.[01] 1\d\d[\s\S]*?\r\n\r\n)+/, '');
}

/** What follows the body of the final response. */
function behind(text: string): string {
  const response = finalResponse(text);
  const end = response.indexOf('\r\n\r\n') + 4;
  const length = /^content-length:[ \t]*(\d+)/im.exec(response.slice(0, end))?.[1];
  return length === undefined ? behindChunks(response.slice(end)) : response.slice(end + Number(length));
}

/** Chunk by chunk, because a chunk may contain what looks like the last one. */
function behindChunks(body: string): string {
  const size = /^([0-9A-Fa-f]+)[ \t]*(;[^\r\n]*)?\r\n/.exec(body);
  if (size === null) return body;
  const rest = body.slice(size[0].length);
  const bytes = Number.parseInt(size[1] as string, 16);
  return bytes === 0 ? rest.replace(/^([^\r]+\r\n)*\r\n/, '') : behindChunks(rest.slice(bytes + 2));
}

function hasControl(text: string): boolean {
  return [...text].some((character) => (character < ' ' && character !== '\t') || character === '\x7f');
}

function explanation({ text, http1, undici }: Seen): string | undefined {
  const found = REFUSED[/^The upstream answered with (.*)\.$/.exec(http1.cause)?.[1] ?? ''];
  if (found?.isIn(text) === true) return found.reason;
  if (rank(http1) === rank(undici)) return SAME_FOR_CLIENT;
  if (http1.kind !== 'complete') return undefined;
  return NOT_KEPT.find(({ isIn }) => isIn(text))?.reason;
}

const pairs: ClientPair[] = [];
afterAll(() => Promise.all(pairs.map((pair) => pair.close())));

describe('our own client and undici', () => {
  it(
    'make the same of hostile answers, or differ for a reason that is listed',
    async () => {
      const started = performance.now();
      const counts = new Map<string, number>();
      let seed = SEED;
      const report = (answers: number) => {
        const seconds = Math.round((performance.now() - started) / 1000);
        const all = JSON.stringify(Object.fromEntries(counts), undefined, 1);
        console.log(`fuzz: ${answers} answers from seed ${SEED} in ${seconds} s: ${all}`);
      };
      const lane = async () => {
        const pair = await startClientPair();
        pairs.push(pair);
        while (seed < SEED + ANSWERS) {
          const own = seed;
          seed += 1;
          if ((own - SEED) % 50_000 === 49_999) report(own - SEED);
          const answer = hostileAnswer(random(own));
          const seen = { text: answer.pieces.join(''), answer, ...(await pair.compare(answer)) };
          const verdict = judge(seen);
          const count = (counts.get(verdict) ?? 0) + 1;
          counts.set(verdict, count);
          if (verdict === 'unexplained' && count <= MOST_SHOWN) console.log(`fuzz: seed ${own}: ${shortened(seen)}`);
        }
      };
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, ANSWERS) }, lane));
      report(ANSWERS);
      expect(counts.get('unexplained') ?? 0).toBe(0);
    },
    60_000 + ANSWERS * 20,
  );
});

/** How strict a client was. */
function rank({ kind, reused }: Outcome): number {
  return { complete: reused ? 0 : 1, cut: 2, refused: 3 }[kind];
}

function judge(seen: Seen): string {
  const { http1, undici } = seen;
  // Whatever an upstream sends, the next request gets its own response.
  if (!http1.nextIsRight) return 'unexplained';
  if (rank(http1) < rank(undici)) return 'unexplained';
  if (http1.kind !== 'refused' && !isSameAsFarAsItGoes(http1, undici)) return 'unexplained';
  if (rank(http1) === rank(undici) && http1.failure === undici.failure) return 'same';
  return explanation(seen) ?? 'unexplained';
}

/** Whether our own client has passed nothing on that undici has not. */
function isSameAsFarAsItGoes(http1: Outcome, undici: Outcome): boolean {
  if (http1.status !== undici.status || http1.fields.join('\n') !== undici.fields.join('\n')) return false;
  if (http1.kind === 'complete') return http1.body === undici.body;
  // How much of a response has arrived before it was cut is a matter of moments.
  return http1.body.startsWith(undici.body) || undici.body.startsWith(http1.body);
}

/** As JSON, without long repetitions. */
function shortened(seen: Seen): string {
  return JSON.stringify(seen, undefined, 1)
    .replace(/(.{1,10}?)\1{50,}/g, '$1…')
    .slice(0, 3_000);
}
