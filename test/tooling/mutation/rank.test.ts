import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rankTests } from './rank.ts';

const FILES: Readonly<Record<string, string>> = {
  'src/main.ts': "import './shop/till.ts';",
  'src/shop/till.ts': `${'export const till = 1;\n'.repeat(40)}export const receiptPrinter = 2;\n`,
  'src/shop/counter.ts': "import './till.ts';",
  'src/shop/cellar/shelf.ts': 'export const shelf = 1;',

  'test/shop/till.test.ts': "import '../../src/shop/till.ts';",
  'test/shop/till-drawer.test.ts': "import '../../src/shop/counter.ts';",
  'test/shop/window.test.ts': "import '../../src/shop/counter.ts';",
  'test/shop/labels.test.ts': "import '../../src/shop/till.ts'; const printer = 'receipt';",
  'test/street/customer.test.ts': "import '../../src/shop/till.ts';",
  'test/street/receipt.test.ts': "import '../../src/shop/till.ts'; it('prints a receipt with the printer');",
  'test/street/passer-by.test.ts': "import '../../src/shop/counter.ts'; const printer = 'receipt';",
  'test/street/process.test.ts': "spawn('src/main.ts');",
  'test/street/elsewhere.test.ts': "const receiptPrinter = 'of another shop';",
  'test/docs/till.test.ts': "import '../../src/shop/till.ts'; const printer = 'receipt';",
  'test/architecture.test.ts': "import '../src/shop/till.ts'; const receiptPrinter = 'receipt printer';",
};
const TESTS = Object.keys(FILES).filter((file) => file.endsWith('.test.ts'));

const root = mkdtempSync(join(tmpdir(), 'coursegate-rank-'));
beforeAll(() => {
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

it("begins with a module's own test, and ends with those of the repository and its pages", () => {
  const ranked = rankTests(root, TESTS).testsFor('src/shop/till.ts', 41);
  expect(ranked[0]).toBe('test/shop/till.test.ts');
  expect(ranked.slice(1, 3).toSorted()).toEqual(['test/shop/labels.test.ts', 'test/shop/till-drawer.test.ts']);
  expect(ranked[3]).toBe('test/shop/window.test.ts');
  // Of those that import it, the one that speaks of the line.
  expect(ranked.slice(4, 6)).toEqual(['test/street/receipt.test.ts', 'test/street/customer.test.ts']);
  expect(ranked.slice(6, 8)).toEqual(['test/street/passer-by.test.ts', 'test/street/process.test.ts']);
  expect(ranked.slice(8).toSorted()).toEqual(['test/architecture.test.ts', 'test/docs/till.test.ts']);
});

it('leaves out tests that reach the module neither by imports nor by a process', () => {
  const { testsFor } = rankTests(root, TESTS);
  expect(testsFor('src/shop/till.ts', 1)).not.toContain('test/street/elsewhere.test.ts');
  expect(testsFor('src/main.ts', 1)).toEqual(['test/street/process.test.ts']);
});

it('takes for a folder without tests those of the folder above', () => {
  const tests = ['test/street/customer.test.ts', 'test/shop/window.test.ts'];
  for (const file of tests) writeFileSync(join(root, file), "import '../../src/shop/cellar/shelf.ts';");
  expect(rankTests(root, TESTS).testsFor('src/shop/cellar/shelf.ts', 1)).toEqual(tests.toReversed());
});
