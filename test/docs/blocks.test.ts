import { describe, it } from 'vitest';
import { placeOf } from './support/markdown.ts';
import { BLOCKS } from './support/pages.ts';
import { canCheck, RULES } from './support/rules.ts';

const named = BLOCKS.map((block) => ({ place: placeOf(block), block }));

describe('every code block of every page', () => {
  it.each(named)('$place is valid in its language', async ({ place, block }) => {
    const rule = Object.hasOwn(RULES, block.language) ? RULES[block.language] : undefined;
    if (rule === undefined) {
      const languages = Object.keys(RULES).join(', ');
      throw new Error(
        `${place}: no rule for ${block.language === '' ? 'a block without a language' : `“${block.language}”`}. There are ` +
          `rules for ${languages} (test/docs/support/rules.ts). Output and diagrams are text.`,
      );
    }
    if (!canCheck(rule)) return;
    try {
      await rule.check(block);
    } catch (thrown) {
      throw new Error(`${place} (${block.language}): ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
  });
});
