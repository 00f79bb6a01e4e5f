import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildSchema, graphqlSync } from 'graphql';
import { coursesOf, fails, memberOf } from './data.ts';
import { personOf } from './roots.ts';
import { UPSTREAM } from './schemas.ts';

/** The dialect of the GraphQL upstream. Its error messages contain text that must not reach clients. */
const DIALECT = {
  talk: 'Lecture',
  status: { CONFIRMED: 'REGISTERED', CANCELED: 'CANCELLED', WAITLISTED: 'WAITLISTED', UNKNOWN: 'LOST' },
  fail: () => new Error('db-7.internal refused a connection'),
  instant: (text: string) => text.replace('Z', '.000Z'),
} as const;

export interface Served {
  readonly origin: string;
  /** The GraphQL operations that arrived. */
  readonly operations: string[];
  close(): Promise<void>;
}

/** Both upstreams as one real server. */
export async function startServices(): Promise<Served> {
  const schema = buildSchema(UPSTREAM);
  const operations: string[] = [];
  const server = createServer((request, response) => {
    const member = memberOf(String(request.headers['x-member-id'] ?? ''));
    const url = new URL(request.url ?? '/', 'http://services.invalid');
    if (url.pathname === '/graphql') {
      void bodyOf(request).then((text) => {
        const { query, variables } = JSON.parse(text);
        operations.push(query);
        const person = (id: string) => (id === member.id ? personOf(member, DIALECT) : null);
        const rootValue = {
          people: ({ ids }: { ids: readonly string[] }) => ids.map(person),
          me: () => person(member.id),
          streakOf: ({ person: id }: { person: string }) => person(id)?.streak(),
        };
        send(response, 200, graphqlSync({ schema, source: query, variableValues: variables, rootValue }));
      });
      return;
    }
    const broken = (what: string) => fails(member, what) && send(response, 500, { message: 'db-7.internal' });
    if (url.pathname.endsWith('/courses')) {
      if (broken('courses')) return;
      const [page, size] = ['page', 'size'].map((name) => Number(url.searchParams.get(name)));
      const all = coursesOf(member);
      const rows = all.slice(((page ?? 1) - 1) * (size ?? 10), (page ?? 1) * (size ?? 10));
      send(response, 200, {
        rows,
        next: (page ?? 1) * (size ?? 10) < all.length ? (page ?? 1) + 1 : null,
        total: all.length,
      });
    } else if (url.pathname === '/progress') {
      const slugs = (url.searchParams.get('slugs') ?? '').split(',');
      if (!broken('progress'))
        send(response, 200, { rows: coursesOf(member).filter(({ slug }) => slugs.includes(slug)) });
    } else if (url.pathname.startsWith('/hints/')) {
      const id = url.pathname.slice('/hints/'.length);
      if (!broken(`${id} course`)) send(response, 200, { slug: `hint-${id}` });
    } else if (!broken('email')) send(response, 200, { email: `${member.id}@example.com` });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    operations,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function send(response: ServerResponse, status: number, body: unknown): true {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  return true;
}
