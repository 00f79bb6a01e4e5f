import { objectOf } from '../../../http/json-object.ts';
import { text } from '../../doctor/answer.ts';
import type { ToolCall } from '../../doctor/directory/calls.ts';
import type { ListedTool } from '../../doctor/directory/tools.ts';
import { filled } from '../../texts.ts';
import texts from './texts.json' with { type: 'json' };

/**
 * What a person would ask for, so that a tool is called: its title as a question or a request, about what the call was
 * about, and with the other arguments by the titles in their schemas.
 */
export function promptFor({ title, inputSchema }: ListedTool, name: string, call?: ToolCall): string {
  const said = title === '' ? 'use a tool' : (title[0] ?? '').toLowerCase() + title.slice(1);
  const [pattern = '', plain = '', pointed = ''] =
    texts.prompts.find(([rule = '']) => new RegExp(rule, 'i').test(said)) ?? [];
  const args = Object.entries(call?.args ?? {});
  const [subject] = args.filter(([, value]) => text(value) !== undefined);
  const about =
    pointed === '' ? undefined : (text(call?.content.title) ?? text(call?.content.name) ?? text(subject?.[1]));
  const labelOf = (key: string) => text(objectOf(objectOf(inputSchema.properties)[key]).title) ?? readable(key);
  const others = args
    .filter(([key]) => about === undefined || key !== subject?.[0])
    .map(
      ([key, value]) => `, with ${labelOf(key)} ${typeof value === 'string' ? `“${value}”` : JSON.stringify(value)}`,
    );
  const [, noun = ''] = new RegExp(pattern, 'i').exec(said) ?? [];
  const asked = (about === undefined ? plain : pointed).replace('$1', () => noun).replace('$0', () => said);
  return filled(asked, { name, about }).replace(/[.?]$/, (end) => others.join('') + end);
}

/** `courseSlug` and `course_slug` are "course slug" to people. */
function readable(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}
