import type { Finding } from './problems.ts';
import { didYouMean } from './suggest.ts';
import { isTree, type Path, type Tree, valueAt } from './tree.ts';

/** Inputs that identify a member, in any spelling. The member comes from the token and cannot be an input. */
const OWN_ID =
  /^(member|user|customer|student)[._-]?(id|uid|uuid|email|name)$|^(as_?(user|member)|on_?behalf_?of|sub)$/i;

/**
 * Checks the tools, resources and prompts for agents. Takes the merged settings before they are validated, so that
 * these mistakes are reported together with those of the schema.
 */
export function checkTools(tree: Tree): readonly Finding[] {
  const list = (key: string): readonly unknown[] => {
    const value = valueAt(tree, ['mcp', key]);
    return Array.isArray(value) ? value : [];
  };
  const tools = list('tools');
  const names = tools.map((tool) => valueAt(tool, ['name'])).filter((name) => typeof name === 'string');
  return [
    ...(['tools', 'resources', 'prompts'] as const).flatMap((key) => namedTwice(key, list(key))),
    ...tools.flatMap((tool, index) => [
      ...identityInputs(tool, ['mcp', 'tools', index]),
      ...unknownInputs(tool, ['mcp', 'tools', index]),
      ...memberWithoutScope(tool, ['mcp', 'tools', index]),
    ]),
    ...list('resources').flatMap((resource, index): Finding[] => {
      const name = valueAt(resource, ['tool']);
      if (typeof name !== 'string' || names.includes(name)) return [];
      const message = `there is no tool "${name}"${didYouMean(name, names)}`;
      return [{ path: ['mcp', 'resources', index, 'tool'], at: 'value', message }];
    }),
    ...list('prompts').flatMap((prompt, index) => unknownArguments(prompt, ['mcp', 'prompts', index])),
  ];
}

function namedTwice(key: string, entries: readonly unknown[]): readonly Finding[] {
  const seen = new Map<unknown, number>();
  return entries.flatMap((entry, index): Finding[] => {
    const name = valueAt(entry, ['name']);
    const first = seen.get(name);
    if (first === undefined) seen.set(name, index);
    if (first === undefined || typeof name !== 'string') return [];
    return [{ path: ['mcp', key, index, 'name'], at: 'value', message: `is already the name of mcp.${key}[${first}]` }];
  });
}

function propertiesOf(tool: unknown): readonly string[] {
  const properties = valueAt(tool, ['input', 'properties']);
  return isTree(properties) ? Object.keys(properties) : [];
}

function identityInputs(tool: unknown, path: Path): readonly Finding[] {
  return propertiesOf(tool)
    .filter((name) => OWN_ID.test(name))
    .map((name) => ({
      path: [...path, 'input', 'properties', name],
      at: 'key' as const,
      message: 'identifies the member, who comes from the token: remove it, and use {member.id} where the id is needed',
    }));
}

/** Checks that every `{name}` in a tool's request is one of its inputs, and that inputs in a path are required. */
function unknownInputs(tool: unknown, path: Path): readonly Finding[] {
  const inputs = propertiesOf(tool);
  const required = valueAt(tool, ['input', 'required']);
  const places: readonly Path[] = [
    ['get', 'path'],
    ['route'],
    ...(isTree(valueAt(tool, ['get', 'query'])) ? Object.keys(valueAt(tool, ['get', 'query']) as Tree) : []).map(
      (name): Path => ['get', 'query', name],
    ),
  ];
  return places.flatMap((place): Finding[] => {
    const text = valueAt(tool, place);
    if (typeof text !== 'string') return [];
    const wanted = placeholders(text).filter((name) => name !== 'member.id');
    const unknown = wanted.find((name) => !inputs.includes(name));
    const at = 'value' as const;
    if (unknown !== undefined) {
      return [
        { path: [...path, ...place], at, message: `there is no input "${unknown}"${didYouMean(unknown, inputs)}` },
      ];
    }
    const optional = wanted.find((name) => !(Array.isArray(required) && required.includes(name)));
    if (place[1] === 'query' || optional === undefined) return [];
    return [{ path: [...path, ...place], at, message: `needs "${optional}": name it in input.required` }];
  });
}

function memberWithoutScope(tool: unknown, path: Path): readonly Finding[] {
  const scopes = valueAt(tool, ['scopes']);
  if (Array.isArray(scopes) && scopes.length > 0) return [];
  const of = (key: string) => JSON.stringify(valueAt(tool, [key]) ?? null).includes('{member.id}');
  if (valueAt(tool, ['graphql']) === undefined && !of('get') && !of('route')) return [];
  const message = 'accesses data of the member, so it needs scopes, such as [account:read]';
  return [{ path: [...path, 'scopes'], at: 'key', message }];
}

function unknownArguments(prompt: unknown, path: Path): readonly Finding[] {
  const text = valueAt(prompt, ['text']);
  const given = valueAt(prompt, ['arguments']);
  const names = (Array.isArray(given) ? given : []).map((one) => String(valueAt(one, ['name'])));
  if (typeof text !== 'string') return [];
  const unknown = placeholders(text).find((name) => !names.includes(name));
  if (unknown === undefined) return [];
  return [
    { path: [...path, 'text'], at: 'value', message: `there is no argument "${unknown}"${didYouMean(unknown, names)}` },
  ];
}

function placeholders(text: string): readonly string[] {
  return [...text.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name);
}
