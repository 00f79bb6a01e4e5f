import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { startWorld, type World } from '../support/world.ts';

let world: World;
let ahead = 0;
beforeAll(async () => {
  world = await startWorld({ profile: 'A', clock: () => Date.now() + ahead, schoolClock: Date.now });
});
afterAll(() => world.close());

/** How many entries of the file have expired, and how many have not. */
function entries(): { dead: number; alive: number } {
  const database = new DatabaseSync(join(world.data, 'coursegate.db'), { readOnly: true });
  const row = database
    .prepare('SELECT count(*) FILTER (WHERE expires_at <= ?1) AS dead, count(*) AS total FROM entry')
    .get(Math.floor((Date.now() + ahead) / 1000));
  database.close();
  return { dead: Number(row?.dead), alive: Number(row?.total) - Number(row?.dead) };
}

it('expired entries are deleted soon after the start, so that a gate that restarts often deletes them too', async () => {
  await connect(await registerApp(world.origin));
  // Codes and responses are stored for a day, in case the gate dies before the clients have received them.
  ahead = 2 * 86_400_000;
  expect(entries().dead).toBeGreaterThan(2);
  await world.restart();
  await vi.waitFor(() => expect(entries().dead).toBe(0), { timeout: 10_000 });
  expect(entries().alive).toBeGreaterThan(2);
});
