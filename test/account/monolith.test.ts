import { parse, specifiedRules, validate } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Gateway, startGateway } from './monolith/gateway.ts';
import { askMonolith, MONOLITH, type Outcome } from './monolith/monolith.ts';
import { type RandomOperation, randomOperation, seeded } from './monolith/operations.ts';
import { type Served, startServices } from './monolith/services.ts';

const SEED = Number(process.env.COURSEGATE_MONOLITH_SEED ?? Math.floor(Math.random() * 2 ** 32));
const OPERATIONS = Number(process.env.COURSEGATE_MONOLITH_OPERATIONS ?? 6000);
const AT_ONCE = 12;

let services: Served;
let gateway: Gateway;

beforeAll(async () => {
  services = await startServices();
  gateway = await startGateway(services.origin);
});

afterAll(async () => {
  await gateway.close();
  await services.close();
});

function validOperation(random: () => number): RandomOperation {
  for (;;) {
    const operation = randomOperation(MONOLITH, random);
    if (validate(MONOLITH, parse(operation.query), specifiedRules, { maxErrors: 1 }).length === 0) return operation;
  }
}

/** A member for whom no, few or many fields fail. */
function randomMember(random: () => number): string {
  return `m-${Math.floor(random() * 30)}-${[0, 0, 0, 40, 12, 5][Math.floor(random() * 6)]}`;
}

/**
 * The errors that are compared. graphql-js reports an invalid argument when it executes the field. If the object is null
 * for another reason, only the side that has the object reports it.
 */
function counted({ data, errors }: Outcome): readonly string[] {
  const nullOf = (path: string): string | undefined => {
    let value = data;
    const steps = path.split('.');
    for (const [depth, step] of steps.entries()) {
      if (value === null) return steps.slice(0, depth).join('.');
      value = (value as Readonly<Record<string, unknown>> | undefined)?.[step];
    }
    return undefined;
  };
  const found = errors.map((error) => {
    const [path = '', code = ''] = error.split(' ');
    return { error, code, above: nullOf(path) };
  });
  const failed = new Set(found.filter(({ code }) => code !== 'BAD_USER_INPUT').map(({ above }) => above));
  const left = (each: (typeof found)[number]) => each.above !== undefined && failed.has(each.above);
  return found.filter((each) => each.code !== 'BAD_USER_INPUT' || !left(each)).map(({ error }) => error);
}

test('random operations return the same as one schema in one process', { timeout: 600_000 }, async () => {
  console.info(`monolith: ${OPERATIONS} operations, COURSEGATE_MONOLITH_SEED=${SEED}`);
  const differing: string[] = [];
  let [left, failed, documents] = [OPERATIONS, 0, 0];
  const work = async (): Promise<void> => {
    while (left > 0 && differing.length < 3) {
      // One seed per document, so that the order of the responses does not affect the next document.
      const random = seeded(SEED + documents);
      documents += 1;
      const { query, draw } = validOperation(random);
      // Repeated for other members and values: a cached operation must not return the first response.
      for (let times = 0; times < 4 && left > 0; times += 1) {
        left -= 1;
        const [variables, member] = [draw(), randomMember(random)];
        const [ours, theirs] = await Promise.all([
          gateway.ask(query, variables, member),
          askMonolith(query, variables, member),
        ]);
        // Nested fragments soon exceed the limit of fields, which is not tested here.
        if (ours.data === undefined && ours.errors.join() === 'undefined MAX_FIELDS_EXCEEDED') {
          left += 1;
          break;
        }
        if (theirs.errors.length > 0) failed += 1;
        // After a hundred errors, further ones are counted and not listed.
        const many = theirs.errors.length > 100;
        const [got, expected] = [ours, theirs].map((each) => {
          return JSON.stringify({ data: each.data, errors: many ? [] : counted(each) }, null, 1);
        });
        if (got !== expected) differing.push([member, query, JSON.stringify(variables), got, expected].join('\n'));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  expect(differing.join('\n\n')).toBe('');
  // The run covered enough failures and upstream operations.
  expect(failed).toBeGreaterThan(OPERATIONS / 20);
  expect(services.operations.length).toBeGreaterThan(OPERATIONS / 3);
});

test('the upstream is only asked for what is mapped', () => {
  const words = new Set(services.operations.flatMap((query) => query.match(/[A-Za-z_]\w*/g) ?? []));
  for (const hidden of ['mutation', 'secret', 'passwordHash', 'internal', 'audit', 'drop', 'viewer', 'registrations']) {
    expect([...words]).not.toContain(hidden);
  }
});
