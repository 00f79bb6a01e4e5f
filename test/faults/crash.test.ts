import { describe } from 'vitest';
import { crashRounds } from './crash-rounds.ts';
import { familiesInSqlite } from './families.ts';
import { gateProcess } from './gate-process.ts';

describe('the gate on SQLite, killed while it issues, rotates and revokes', () => {
  crashRounds(async () => {
    const gate = await gateProcess();
    return { gate, families: async () => familiesInSqlite(gate.data), ills: {}, close: () => gate.close() };
  });
});
