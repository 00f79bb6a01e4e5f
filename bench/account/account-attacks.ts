import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { AccountOperation } from '../../src/account/connect/operation.ts';
import { costError, costMeter } from '../../src/account/cost.ts';
import { documentChecker } from '../../src/account/documents.ts';
import { formatError, maskResult } from '../../src/account/errors.ts';
import { executeOperation } from '../../src/account/operations.ts';
import { readGraphqlRequest } from '../../src/account/request.ts';
import { buildAccountSchema } from '../../src/account/schema.ts';
import { account as accountBlock } from '../../src/account/settings.ts';
import { asGatewayError, GatewayError } from '../../src/errors.ts';
import type { MemberPrincipal } from '../../src/oauth/principal.ts';
import type { AttackCost } from './attacks.ts';

/** Prints the cost of refusing each attack of the list, as JSON. Without a network: only the work is measured. */
const TIMES = 50;
const text = (file: string) => readFileSync(new URL(`../../test/account/fixtures/${file}`, import.meta.url), 'utf8');
const { limits, bodyLimit, introspection } = accountBlock.parse({ schema: 'given', mappings: 'given' });
const built = buildAccountSchema(
  [{ file: 'courses.graphql', text: text('courses.graphql') }],
  [{ file: 'courses.map.graphql', text: text('courses.map.graphql') }],
  {
    upstreams: ['school', 'progress'],
    config: { open: ['currency'], secret: [] },
    scopes: ['account:read', 'account:write'],
  },
);
const check = documentChecker(built.schema, { limits, introspection });
const costOf = costMeter(built, limits.pageSize);

type Body = string;

const principal: MemberPrincipal = {
  kind: 'member',
  sub: 'm-1001',
  details: { email: 'student@example.com', name: 'Sam' },
  scope: new Set(['account:read']),
  clientId: 'client-1',
  grantId: 'grant-1',
};

/** Processes an operation as the endpoint does, without calls to upstreams. Returns the error code of the refusal, if any. */
async function refusalOf(body: Body): Promise<string | undefined> {
  const request = Object.assign(Readable.from([Buffer.from(body)]), {
    headers: { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) },
  });
  try {
    const read = await readGraphqlRequest(request as never, bodyLimit);
    const { source, operationName, variables } = read;
    const checked = check('query' in source ? source.query : '');
    if (checked.document === undefined) return codeOf(checked);
    const { document } = checked;
    const cost = costOf(document, operationName, variables);
    if (cost !== undefined && cost.cost > limits.cost) {
      return codeOf({ errors: [formatError(costError(cost.cost, limits.cost, cost.at), 'MAX_COST_EXCEEDED')] });
    }
    const { signal } = new AbortController();
    const call = () => Promise.reject(new GatewayError('upstream_unavailable'));
    const config = { currency: 'EUR' };
    const operation = new AccountOperation({ principal, call, mapping: built.mapping, config, limits, signal });
    const result = await executeOperation(built.schema, document, read, operation, signal);
    return codeOf(maskResult(result, { deadlinePassed: false, failedField: () => undefined, onError: () => {} }));
  } catch (thrown) {
    return asGatewayError(thrown).code.toUpperCase();
  }
}

/** The error code in a response body, serialized and parsed as it would be when it is sent. */
function codeOf(body: object): string | undefined {
  return JSON.parse(JSON.stringify(body)).errors?.[0]?.extensions.code;
}

const many = (count: number, of: (at: number) => string) => Array.from({ length: count }, (_, at) => of(at)).join(' ');
const query = (source: string, variables?: object): Body => JSON.stringify({ query: source, variables });
const introspect = (levels: number) =>
  `{ __schema { types { ${'fields { type { '.repeat(levels)} name ${'} }'.repeat(levels)} } } }`;

/** The attacks. `salt` makes each text different. */
const ATTACKS: readonly (readonly [name: string, body: (salt: number) => Body])[] = [
  ['3,000 aliases of viewer', (salt) => query(`query q${salt} { ${many(3000, (at) => `a${at}: viewer { id }`)} }`)],
  ['viewer { id } 3,000 times', (salt) => query(`query q${salt} { ${many(3000, () => 'viewer { id }')} }`)],
  [
    '400 overlapping nested fields',
    (salt) => query(`query q${salt} { viewer { ${many(400, () => 'enrolledCourses(first: 1) { nodes { slug } }')} } }`),
  ],
  [
    'as many overlapping fields as the limits allow',
    (salt) => query(`query q${salt} { viewer { ${many(130, () => 'enrolledCourses { nodes { slug } }')} x } }`),
  ],
  [
    'the same leaf 399 times, and an unknown one',
    (salt) => query(`query q${salt} { viewer { ${many(398, () => 'id')} x } }`),
  ],
  ['3,000 directives', (salt) => query(`query q${salt} { viewer { id ${'@include(if: true) '.repeat(3000)} } }`)],
  ['3,000 unknown directives', (salt) => query(`query q${salt} { viewer { id ${'@a'.repeat(3000)} } }`)],
  ['50 unknown directives', (salt) => query(`query q${salt} { viewer { id ${'@a '.repeat(50)} } }`)],
  [
    'fragments that fan out to 2^25',
    (salt) =>
      query(
        `query q${salt} { viewer { ...F0 } } ${many(25, (at) => `fragment F${at} on Viewer { ...F${at + 1} ...F${at + 1} }`)} fragment F25 on Viewer { id }`,
      ),
  ],
  [
    'fragments that fan out to 2^19, and are empty',
    (salt) =>
      query(
        `query q${salt} { viewer { ...F0 } } ${many(19, (at) => `fragment F${at} on Viewer { ...F${at + 1} ...F${at + 1} }`)} fragment F19 on Viewer { }`,
      ),
  ],
  [
    'fragments that fan out to 2^25, to a missing one',
    (salt) =>
      query(
        `query q${salt} { viewer { ...F0 } } ${many(25, (at) => `fragment F${at} on Viewer { ...F${at + 1} ...F${at + 1} }`)}`,
      ),
  ],
  [
    'a cycle of 100 fragments',
    (salt) =>
      query(
        `query q${salt} { viewer { ...F0 } } ${many(100, (at) => `fragment F${at} on Viewer { ...F${(at + 1) % 100} }`)}`,
      ),
  ],
  [
    '110 fragments side by side, of unknown fields',
    (salt) =>
      query(
        `query q${salt} { viewer { ${many(110, (at) => `...F${at}`)} } } ${many(110, (at) => `fragment F${at} on Viewer { f${at} }`)}`,
      ),
  ],
  ['introspection 8 deep', (salt) => query(introspect(8).replace('{', `query q${salt} {`))],
  ['100 levels of fields', (salt) => query(`query q${salt} { viewer ${'{ a '.repeat(100)} ${'}'.repeat(100)} }`)],
  ['200 unknown fields', (salt) => query(`query q${salt} { viewer { ${many(200, (at) => `courze${at}`)} } }`)],
  [
    '150 unused variables',
    (salt) => query(`query q${salt}(${many(150, (at) => `$v${at}: Int = 1`)}) { viewer { id } }`),
  ],
  [
    'a value of 480 nested lists',
    (salt) =>
      query(
        `query q${salt} { viewer { enrolledCourses(first: ${'['.repeat(480)}${']'.repeat(480)}) { totalCount } } }`,
      ),
  ],
  ['first: 100000', (salt) => query(`query q${salt} { viewer { enrolledCourses(first: 100000) { nodes { slug } } } }`)],
  [
    'ten windows of 100, six deep',
    (salt) =>
      query(
        `query q${salt} { ${many(10, (at) => `w${at}: viewer { enrolledCourses(first: 100) { nodes { slug lastWatchedLecture { lectureId } } edges { node { slug lastWatchedLecture { lectureId } } } } }`)} }`,
      ),
  ],
  ['a document of 60 KB of comments', (salt) => query(`query q${salt} { viewer { x } } #${'x'.repeat(60_000)}`)],
  ['variables of 1 MB', (salt) => query('{ viewer { x } }', { salt, text: 'x'.repeat(1_000_000) })],
  [
    'JSON 30,000 deep',
    () => `{"query":"{ viewer { x } }","variables":{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`,
  ],
  ['a batch of 1,000', () => JSON.stringify(Array.from({ length: 1000 }, () => ({ query: '{viewer{id}}' })))],
];

const contract = (at: number) =>
  query(
    `query c${at} ($n: Int) { viewer { id email enrolledCourses(first: $n) { nodes { slug expireDate hasLifetimeAccess lastWatchedLecture { lectureId positionSeconds } } } } }`,
    { n: 20 },
  );
for (let at = 0; at < 200; at += 1) {
  const code = await refusalOf(contract(at));
  if (code !== 'UPSTREAM_UNAVAILABLE') throw new Error(`the contract's query is refused: ${code}`);
}

const costs: AttackCost[] = [];
for (const [name, bodyOf] of ATTACKS) {
  const took: number[] = [];
  let refused = '';
  for (let salt = 0; salt <= TIMES; salt += 1) {
    const body = bodyOf(salt);
    const before = process.cpuUsage();
    const code = await refusalOf(body);
    const { user, system } = process.cpuUsage(before);
    took.push((user + system) / 1000);
    if (code === undefined) throw new Error(`${name} is not refused`);
    refused = code;
  }
  const [first = Number.NaN, ...later] = took;
  const sorted = later.toSorted((a, b) => a - b);
  costs.push({
    name,
    kilobytes: Buffer.byteLength(bodyOf(0)) / 1000,
    code: refused,
    first,
    median: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
    most: sorted.at(-1) ?? Number.NaN,
  });
}
process.stdout.write(JSON.stringify(costs));
