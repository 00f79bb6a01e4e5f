import { expressions } from '../gate-paths.ts';
import { block, quoted } from '../nginx-text.ts';
import { pathExpression, UNUSUAL } from '../plugin-paths.ts';
import type { PluginPlan } from '../plugin-plan.ts';

/**
 * The maps that say where a request goes. The first match applies. A path may contain line breaks: (?s) lets a dot match
 * them.
 */
export function destinations({ paths, patterns, routes }: PluginPlan): string {
  const all = joined(patterns.map(pathExpression));
  const line = (methods: string, path: string, to: string) => `${quoted(`~*(?s)^${methods} (${path})$`)} ${to};`;
  // A lookahead, because nginx takes the default if an expression fails.
  const unusual = block('map $request_uri $coursegate_unusual', [
    'default gate;',
    `${quoted(`~*(?s)^(?!${UNUSUAL})`)} "";`,
  ]);
  const outside = block('map $uri $coursegate_outside', ['default "";', '"~^/\\.coursegate/" 1;']);
  const to = block('map "$request_method $uri" $coursegate_to', [
    'default $coursegate_unusual;',
    ...joined(expressions(paths)).map((path) => `${quoted(`~(?s)^[^ ]+ (${path})$`)} gate;`),
    ...all.map((path) => line('OPTIONS', path, 'gate')),
    ...routes.map(({ methods, path, upstream }) =>
      line(
        methods === undefined ? '[^ ]+' : `(${methods.join('|')})`,
        path,
        upstream === undefined ? 'gate' : `to_${upstream.id}`,
      ),
    ),
    ...all.map((path) => line('[^ ]+', path, 'gate')),
  ]);
  return `${outside}\n${unusual}\n${to}`;
}

/** In bytes. A word of nginx's configuration has at most 4096. */
const LONGEST_EXPRESSION = 3_500;

/** Alternatives, in as few expressions as nginx can read: each one costs every request. */
function joined(expressions: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const one of expressions) {
    const last = lines.at(-1);
    const longer = last === undefined ? one : `${last}|${one}`;
    // Quoting doubles backslashes and quotation marks.
    if (last === undefined || Buffer.byteLength(quoted(longer)) > LONGEST_EXPRESSION) lines.push(one);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}
