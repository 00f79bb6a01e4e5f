import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AccountOptions } from '../../../src/account/account-options.ts';
import type { MemberPrincipal } from '../../../src/oauth/principal.ts';
import { callOver, contractFiles, MEMBER, type Reply, startAccount } from './account.ts';

/** A call as the upstream saw it. */
export interface Seen {
  readonly method: string;
  readonly url: URL;
  readonly type: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** The upstream's response: a JSON value, or a status and a literal body. */
type Answer = { readonly status: number; readonly text: string } | { readonly json: unknown; readonly status?: number };

/** An Account API over one recording upstream, from a contract's and a mapping's text. */
export interface MappedService {
  readonly url: string;
  readonly seen: Seen[];
  /** What was logged: of which field, and why. */
  logged(): readonly string[];
  ask(query: string, variables?: object): Promise<Reply>;
  close(): Promise<void>;
}

/**
 * Takes the contract's types without Query, the mapping without its sources, the upstream's responses, and options of the
 * endpoint. The upstream's name is `school`.
 */
export async function mapService(
  types: string,
  mapping: string,
  answer: (seen: Seen) => Answer,
  { principal = MEMBER, ...options }: Partial<AccountOptions> & { principal?: MemberPrincipal } = {},
): Promise<MappedService> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const call = {
      method: request.method ?? '',
      url: new URL(request.url ?? '', 'http://school.invalid'),
      type: request.headers['content-type'],
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    seen.push(call);
    const reply = answer(call);
    response.writeHead(reply.status ?? 200).end('text' in reply ? reply.text : JSON.stringify(reply.json));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const source = mapping.includes('@source') ? '' : 'extend schema @source(name: "school")\n';
  const account = await startAccount(
    {
      call: callOver(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
      schema: contractFiles(`type Query { viewer: Viewer! }\n${types}`),
      mappings: [{ file: 'map.graphql', text: source + mapping }],
      upstreams: ['school'],
      ...options,
    },
    principal,
  );
  return {
    url: account.url,
    seen,
    logged: () => account.failed.map((where, at) => `${where}: ${(account.errors[at] as Error).message}`),
    ask: (query, variables) => account.ask(query, variables),
    async close() {
      await account.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
