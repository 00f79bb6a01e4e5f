import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { callOver, MEMBER, startAccount, type TestAccount } from '../account/support/account.ts';

/** A request to a backend and its response, in the form of the backend's public documentation. */
type Fake = (url: URL, form: URLSearchParams) => unknown;

const open: { account: TestAccount; server: Server }[] = [];
afterEach(async () => {
  for (const { account, server } of open.splice(0)) {
    await account.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** The Account API with an example's own files and a fake of its backend, for the member 42. */
async function exampleOver(name: string, upstream: string, fake: Fake) {
  const file = fileURLToPath(new URL(`../../config/examples/${name}`, import.meta.url));
  const environment = { COURSEGATE_SECRET: 'k'.repeat(32) };
  const { config, accountFiles, accountConfig } = await loadConfig({ file, environment });
  expect(Object.keys(config.upstreams)).toEqual([upstream]);
  const asked: { method: string; url: URL; form: URLSearchParams; member: string }[] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '', 'http://backend.invalid');
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    asked.push({ method: request.method ?? '', url, form, member: String(request.headers['x-member-id']) });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(fake(url, form)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const account = await startAccount(
    {
      schema: accountFiles?.schema ?? [],
      mappings: accountFiles?.mappings ?? [],
      upstreams: [upstream],
      config: accountConfig,
      call: callOver(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    },
    { ...MEMBER, sub: '42' },
  );
  open.push({ account, server });
  return { account, asked };
}

describe('wordpress-learndash', () => {
  const course = (id: number) => ({
    id,
    date_gmt: '2026-01-01T08:30:00',
    slug: `course-${id}`,
    link: `https://school.example/courses/course-${id}/`,
    title: { rendered: `Course ${id}` },
  });
  const envelope = (body: unknown, headers = {}, status = 200) => ({ body, status, headers });
  const learndash: Fake = ({ pathname, searchParams }) => {
    if (pathname.endsWith('/courses')) {
      const [page, size] = [Number(searchParams.get('page')), Number(searchParams.get('per_page'))];
      const all = Array.from({ length: 100 }, (_, at) => course(at + 1));
      const rows = all.slice((page - 1) * size, page * size);
      // WordPress returns an error for a page after the last one.
      if (rows.length === 0) return envelope({ code: 'rest_post_invalid_page_number' }, {}, 400);
      return envelope(rows, { 'X-WP-Total': 100, 'X-WP-TotalPages': 2 });
    }
    if (pathname.endsWith('/course-progress/2')) return envelope({ code: 'rest_forbidden', data: {} }, {}, 403);
    return envelope({
      course: 1,
      steps_completed: 3,
      steps_total: 9,
      date_started_gmt: '2026-01-02T08:30:00',
      date_completed_gmt: '',
    });
  };

  it('returns courses and progress, and null with an error for what WordPress refuses', async () => {
    const { account, asked } = await exampleOver('wordpress-learndash.yaml', 'wordpress', learndash);
    const { body } = await account.ask(
      '{ viewer { id enrolledCourses(first: 2) { totalCount nodes { id slug title url progress { stepsCompleted stepsTotal startedAt completedAt } } } } }',
    );
    const { totalCount, nodes } = body.data.viewer.enrolledCourses;
    expect(totalCount).toBe(100);
    expect(nodes).toEqual([
      {
        id: '1',
        slug: 'course-1',
        title: 'Course 1',
        url: 'https://school.example/courses/course-1/',
        progress: { stepsCompleted: 3, stepsTotal: 9, startedAt: '2026-01-02T08:30:00Z', completedAt: null },
      },
      { id: '2', slug: 'course-2', title: 'Course 2', url: 'https://school.example/courses/course-2/', progress: null },
    ]);
    expect(body.errors).toMatchObject([
      { path: ['viewer', 'enrolledCourses', 'nodes', 1, 'progress'], extensions: { code: 'UPSTREAM_ERROR' } },
    ]);
    expect(asked.map(({ url, member }) => [url.pathname, member])).toEqual([
      ['/wp-json/ldlms/v2/users/42/courses', '42'],
      ['/wp-json/ldlms/v2/users/42/course-progress/1', '42'],
      ['/wp-json/ldlms/v2/users/42/course-progress/2', '42'],
    ]);
  });

  it('never requests the page after the last one, for which WordPress returns an error', async () => {
    const { account, asked } = await exampleOver('wordpress-learndash.yaml', 'wordpress', learndash);
    const { body } = await account.ask(
      '{ viewer { enrolledCourses(first: 100) { nodes { id } pageInfo { hasNextPage } } } }',
    );
    expect(body.errors).toBeUndefined();
    expect(body.data.viewer.enrolledCourses.nodes).toHaveLength(100);
    expect(body.data.viewer.enrolledCourses.pageInfo.hasNextPage).toBe(false);
    expect(asked.map(({ url }) => url.searchParams.get('page'))).toEqual(['1', '2']);
  });
});
