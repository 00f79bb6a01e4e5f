import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Seen {
  readonly path: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
}

type Reply = (seen: Seen, response: ServerResponse) => void | Promise<void>;

/** The legacy school's two services as one recording server; the response of each route can be replaced by a broken one. */
export interface TestSchool {
  readonly origin: string;
  readonly seen: Seen[];
  readonly replies: { member: Reply; enrolments: Reply; positions: Reply };
  count(part: string): number;
  reset(): void;
  close(): Promise<void>;
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** A member's nth course (from 0): every third has lifetime access, every second has a playback position. */
export function enrolment(index: number) {
  const lifetime = index % 3 === 1;
  return {
    id: `e-${index}`,
    course: { id: `c-${index}`, slug: `course-${index}`, title: `Course ${index}` },
    enrolled_at: 1_767_225_600,
    expires_at: lifetime ? 0 : 1_798_761_600,
    lifetime: lifetime ? 1 : 0,
  };
}

export async function startSchool(enrolled: number): Promise<TestSchool> {
  const working: TestSchool['replies'] = {
    member: (_seen, response) =>
      sendJson(response, { data: { id: 'm-9999', email_address: 'student@example.com', display_name: 'A Student' } }),
    enrolments({ url }, response) {
      const page = Number(url.searchParams.get('page'));
      const size = Number(url.searchParams.get('per_page'));
      const all = Array.from({ length: enrolled }, (_, index) => enrolment(index));
      const next = page * size < enrolled ? page + 1 : null;
      sendJson(response, {
        data: all.slice((page - 1) * size, page * size),
        meta: { page, per_page: size, total: enrolled, next_page: next },
      });
    },
    positions({ url }, response) {
      const slugs = (url.searchParams.get('slugs') ?? '').split(',');
      const watched = slugs.filter((slug) => Number(slug.split('-')[1]) % 2 === 0);
      sendJson(response, {
        positions: watched.map((slug) => ({
          course_slug: slug,
          lecture_id: 4711,
          position_ms: 754_999,
          updated_at: 1_767_225_600,
        })),
      });
    },
  };
  const replies = { ...working };
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://school.invalid');
    const entry = { path: url.pathname, url, headers: request.headers };
    seen.push(entry);
    const reply = url.pathname.startsWith('/v2/positions')
      ? replies.positions
      : url.pathname.endsWith('/enrolments')
        ? replies.enrolments
        : replies.member;
    void reply(entry, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    replies,
    count: (part) => seen.filter(({ path }) => path.includes(part)).length,
    reset() {
      seen.length = 0;
      Object.assign(replies, working);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
