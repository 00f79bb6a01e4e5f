import { describe, expect, it } from 'vitest';
import { openAccount } from '../../src/account/part.ts';
import { buildAccountSchema } from '../../src/account/schema.ts';
import { load, SMALL } from '../config/fixture.ts';
import { contractFiles } from './support/account.ts';

type AccountUses = Parameters<typeof openAccount>[2];

const CONTRACT = `
type Query { viewer: Viewer! order(id: ID!): Order }
type Viewer { id: ID! orders: [Order!]! }
type Order { id: ID! }
`;

const mapping = (source: string, order: string, orders: string) => ({
  file: 'school.graphql',
  text: `extend schema ${source}
extend type Query {
  viewer: Viewer! @connect(source: "school", http: { GET: "/members/{$context.sub}" }, selection: "id")
  order(id: ID!): Order @connect(source: "school", http: { GET: "${order}" }, selection: "id")
}
extend type Viewer {
  orders: [Order!]! @connect(source: "school", http: { GET: "${orders}" }, selection: "id")
}
`,
});

const built = (text: ReturnType<typeof mapping>, keyed: string[]): string => {
  try {
    buildAccountSchema(contractFiles(CONTRACT), [text], {
      upstreams: ['school'],
      keyed,
      scopes: [],
      config: { open: [], secret: [] },
    });
    return '';
  } catch (thrown) {
    return (thrown as Error).message;
  }
};

describe('a mapping to an upstream with one key for all members', () => {
  const PLAIN = '@source(name: "school")';
  const OPEN = mapping(PLAIN, '/orders/{$args.id}', '/orders?of={$this.id}');
  const OWN = mapping(PLAIN, '/members/{$context.sub}/orders/{$args.id}', '/orders/of/{$context.sub}');

  it('must name the member in each call', () => {
    const message = built(OPEN, ['school']);
    expect(message).toMatch(/school\.graphql:4:\d+ +Query\.order: "school" has one key for all members/);
    expect(built(OPEN, [])).not.toContain('one key');
    expect(built(OWN, ['school'])).not.toContain('one key');
  });

  it('has only the mistake in a query, which may have been meant to name the member', () => {
    const { text, ...file } = OWN;
    const query = 'http: { GET: "/orders/{$args.id}", queryParams: "of: $context.sub }" }';
    const mistaken = text.replace('http: { GET: "/members/{$context.sub}/orders/{$args.id}" }', query);
    const message = built({ ...file, text: mistaken }, ['school']);
    expect(message).toMatch(/school\.graphql:4:\d+ +Query\.order/);
    expect(message).not.toContain('one key');
  });

  it('must not use GraphQL, where a document can name any member', () => {
    const graphql = mapping('@source(name: "school", graphql: { path: "/graphql" })', '/{$context.sub}', '/x');
    expect(built(graphql, ['school'])).toContain('it cannot be used with GraphQL');
  });

  it('is one that has such a credential in the configuration', async () => {
    const text = SMALL.replace('profile: B', 'profile: A').replace(
      'url: http://127.0.0.1:4000',
      'url: http://127.0.0.1:4000, credential: { kind: key, header: X-Key, secret: { env: KEY } }',
    );
    const loaded = await load(`${text}account: { schema: c.graphql, mappings: m.graphql }\n`, {
      files: { 'c.graphql': CONTRACT, 'm.graphql': OPEN.text },
      environment: { KEY: 'a-key-of-the-backend' },
    });
    const uses = { call: () => Promise.reject(), rolesOf: () => Promise.reject(), audit: () => undefined };
    const opened = openAccount({ log: { error: () => undefined } }, loaded, uses as unknown as AccountUses);
    await expect(opened).rejects.toThrow('"school" has one key for all members');
  });
});
