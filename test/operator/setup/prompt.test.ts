import { expect, it } from 'vitest';
import { listedTool } from '../../../src/operator/doctor/directory/tools.ts';
import { promptFor } from '../../../src/operator/setup/submission/prompt.ts';

it.each([
  ['List my courses', {}, {}, 'Which courses do I have at Bay?'],
  ['Get my progress', {}, {}, 'Show me my progress at Bay.'],
  ['Get my access', {}, {}, 'Show me my access at Bay.'],
  ['Search courses', {}, {}, 'Which courses are there at Bay?'],
  ['Search courses', { query: 'knots' }, {}, 'Find courses about “knots” at Bay.'],
  ['Get a course', {}, {}, 'Tell me about a course at Bay.'],
  ['Get a course', { slug: 'knots-1' }, { title: 'Knots & $1' }, 'Tell me about the course “Knots & $1” at Bay.'],
  ['Get a course', { slug: 'knots-1' }, {}, 'Tell me about the course “knots-1” at Bay.'],
  ['My certificates', {}, {}, 'Show me my certificates at Bay.'],
  ['Continue watching', {}, {}, 'Help me continue watching at Bay.'],
  [
    'Estimate shipping',
    { countryCode: 'DE', weight_kg: 2 },
    {},
    'Help me estimate shipping at Bay, with country code “DE”, with the weight 2.',
  ],
])('"%s" with %j is asked for as a person would', (title, args, content, prompt) => {
  const inputSchema = { properties: { weight_kg: { title: 'the weight' } } };
  const tool = listedTool({ name: 'a', title, description: 'D', inputSchema });
  const call = { name: 'a', tool, args, content, refused: undefined, characters: 0 };
  expect(promptFor(tool, 'Bay', call)).toBe(prompt);
});
