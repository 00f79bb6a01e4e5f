import { stripTypeScriptTypes } from 'node:module';
import { describe, expect, it } from 'vitest';
import { plantedFiles } from './plant.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';

describe('planted bugs', () => {
  it.each(PLANTED_BUGS)('apply to the code as it is: $name', (bug) => {
    for (const [url, text] of plantedFiles(bug)) expect(() => stripTypeScriptTypes(text), url).not.toThrow();
  });

  it('have names of their own', () => {
    expect(new Set(PLANTED_BUGS.map(({ name }) => name)).size).toBe(PLANTED_BUGS.length);
  });
});
