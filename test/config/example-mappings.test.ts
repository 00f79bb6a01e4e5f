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
  const environment = { COURSEGATE_SECRET: 'k'.repeat(32), MOODLE_TOKEN: 'secret-wstoken' };
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

describe('moodle', () => {
  const moodle: Fake = (_url, form) => {
    if (form.get('wsfunction') === 'core_user_get_users_by_field') {
      return [{ id: 42, username: 'sam', fullname: 'Sam Student', email: 'sam@example.com' }];
    }
    return [
      {
        id: 7,
        shortname: 'KNOTS',
        fullname: 'Knots for beginners',
        enrolledusercount: 12,
        idnumber: '',
        visible: 1,
        progress: 61.5,
        completed: false,
        startdate: 1_767_225_600,
        enddate: 0,
        lastaccess: 1_767_229_200,
      },
    ];
  };
  const QUERY =
    '{ viewer { email enrolledCourses { totalCount nodes { id shortName title progressPercent endsAt lastAccessAt } } } }';

  it('returns the member and their courses by function calls with the token in the body', async () => {
    const { account, asked } = await exampleOver('moodle.yaml', 'moodle', moodle);
    const { body, text } = await account.ask(QUERY);
    expect(body).toEqual({
      data: {
        viewer: {
          email: 'sam@example.com',
          enrolledCourses: {
            totalCount: 1,
            nodes: [
              {
                id: '7',
                shortName: 'KNOTS',
                title: 'Knots for beginners',
                progressPercent: 61.5,
                endsAt: null,
                lastAccessAt: '2026-01-01T01:00:00Z',
              },
            ],
          },
        },
      },
    });
    expect(asked.map(({ method, url, form }) => [method, url.pathname + url.search, Object.fromEntries(form)])).toEqual(
      [
        [
          'POST',
          '/webservice/rest/server.php',
          {
            wstoken: 'secret-wstoken',
            wsfunction: 'core_user_get_users_by_field',
            moodlewsrestformat: 'json',
            field: 'id',
            'values[0]': '42',
          },
        ],
        [
          'POST',
          '/webservice/rest/server.php',
          {
            wstoken: 'secret-wstoken',
            wsfunction: 'core_enrol_get_users_courses',
            moodlewsrestformat: 'json',
            userid: '42',
          },
        ],
      ],
    );
    expect(text).not.toContain('wstoken');
  });

  it('returns an empty list for a member without courses', async () => {
    const { account } = await exampleOver('moodle.yaml', 'moodle', (url, form) =>
      form.get('wsfunction') === 'core_enrol_get_users_courses' ? [] : moodle(url, form),
    );
    const { body } = await account.ask(QUERY);
    expect(body.data.viewer.enrolledCourses).toEqual({ totalCount: 0, nodes: [] });
    expect(body.errors).toBeUndefined();
  });

  it('treats a 200 with an exception as a failure, without revealing it', async () => {
    const { account } = await exampleOver('moodle.yaml', 'moodle', () => ({
      exception: 'moodle_exception',
      errorcode: 'invalidtoken',
      message: 'Invalid token - token not found',
    }));
    const { body, text } = await account.ask(QUERY);
    expect(body.data.viewer).toEqual({ email: null, enrolledCourses: null });
    for (const error of body.errors) expect(error.extensions.code).toBe('UPSTREAM_BAD_RESPONSE');
    expect(text).not.toMatch(/moodle|token/i);
  });
});
