import { createServer } from 'node:http';
import { ANSWER } from '../mcp/mcp-tools.ts';

/**
 * The legacy school's two REST services as one cheap process: a member with 60 courses, a catalogue, and prepared responses. It counts
 * calls by path, so that the bench can check that every subject makes the same ones.
 */
const COURSES = 60;
const MEMBER = JSON.stringify({ data: { id: 'm-1001', email_address: 'student@example.com', display_name: 'Sam' } });
const rows = Array.from({ length: COURSES }, (_, at) => ({
  id: `e-${at}`,
  course: { id: `c-${at}`, slug: `course-${at}`, title: `Course ${at}, from the beginning to the end` },
  enrolled_at: 1_767_225_600 - at * 86_400,
  expires_at: at % 3 === 1 ? 0 : 1_798_761_600,
  lifetime: at % 3 === 1 ? 1 : 0,
}));
const answers = new Map<string, string>();
const calls = new Map<string, number>();

createServer((request, response) => {
  const target = request.url ?? '/';
  if (target === '/calls') {
    response.end(JSON.stringify(Object.fromEntries(calls)));
    calls.clear();
    return;
  }
  calls.set(target, (calls.get(target) ?? 0) + 1);
  let text = answers.get(target);
  if (text === undefined) {
    text = answerOf(new URL(target, 'http://school.invalid'));
    answers.set(target, text);
  }
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
}).listen(Number(process.env.PORT), '127.0.0.1');

function answerOf({ pathname, searchParams }: URL): string {
  if (pathname.startsWith('/v2/positions')) {
    const slugs = (searchParams.get('slugs') ?? '').split(',').filter((slug) => slug.startsWith('course-'));
    const positions = slugs.map((slug) => {
      return { course_slug: slug, lecture_id: 4711, position_ms: 754_999, updated_at: 1_767_225_600 };
    });
    return JSON.stringify({ positions });
  }
  if (pathname === '/api/v1/courses') return ANSWER;
  if (!pathname.endsWith('/enrolments')) return MEMBER;
  const [page, size] = [Number(searchParams.get('page')), Number(searchParams.get('per_page'))];
  const next = page * size < COURSES ? page + 1 : null;
  const meta = { page, per_page: size, total: COURSES, next_page: next };
  return JSON.stringify({ data: rows.slice((page - 1) * size, page * size), meta });
}
