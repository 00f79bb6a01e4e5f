import type { UntracedProblem } from '../config/problems.ts';
import { unknownName } from '../config/suggest.ts';
import { keysAt, listAt, type Path, type Tree, valueAt } from '../config/tree.ts';

/** Inputs that identify a member, in any spelling. The member comes from the token and cannot be an input. */
export const OWN_ID =
  /^(member|user|customer|student)[._-]?(id|uid|uuid|email|name)$|^(as_?(user|member)|on_?behalf_?of|sub)$/i;

const INPUTS = ['input', 'properties'];

/**
 * Checks the tools, resources and prompts for agents. Takes the merged settings before they are validated, so that
 * these mistakes are reported together with those of the schema.
 */
export function checkTools(tree: Tree): readonly UntracedProblem[] {
  const list = (key: string) => listAt(tree, ['mcp', key]);
  const tools = list('tools');
  const names = tools.map((tool) => valueAt(tool, ['name'])).filter((name) => typeof name === 'string');
  return [
    ...(['tools', 'resources', 'prompts'] as const).flatMap((key) => namedTwice(key, list(key))),
    ...tools.flatMap((tool, index) => [
      ...identityInputs(tool, ['mcp', 'tools', index]),
      ...unknownInputs(tool, ['mcp', 'tools', index]),
      ...memberWithoutScope(tool, ['mcp', 'tools', index]),
    ]),
    ...list('resources').flatMap((resource, index) =>
      unknownName(['mcp', 'resources', index, 'tool'], 'tool', valueAt(resource, ['tool']), names),
    ),
    ...list('prompts').flatMap((prompt, index) => unknownArguments(prompt, ['mcp', 'prompts', index])),
  ];
}

function namedTwice(key: string, entries: readonly unknown[]): readonly UntracedProblem[] {
  const seen = new Map<unknown, number>();
  return entries.flatMap((entry, index): UntracedProblem[] => {
    const name = valueAt(entry, ['name']);
    const first = seen.get(name);
    if (first === undefined) seen.set(name, index);
    if (first === undefined || typeof name !== 'string') return [];
    return [{ path: ['mcp', key, index, 'name'], at: 'value', message: `is already the name of mcp.${key}[${first}]` }];
  });
}

function identityInputs(tool: unknown, path: Path): readonly UntracedProblem[] {
  return keysAt(tool, INPUTS)
    .filter((name) => OWN_ID.test(name))
    .map((name) => ({
      path: [...path, 'input', 'properties', name],
      at: 'key' as const,
      message: 'identifies the member, who comes from the token: remove it, and use {member.id} where the id is needed',
    }));
}

/** Checks that every `{name}` in a tool's request is one of its inputs, and that inputs in a path are required. */
function unknownInputs(tool: unknown, path: Path): readonly UntracedProblem[] {
  const inputs = keysAt(tool, INPUTS);
  const required = listAt(tool, ['input', 'required']);
  const places: readonly Path[] = [
    ['get', 'path'],
    ['route'],
    ...keysAt(tool, ['get', 'query']).map((name) => ['get', 'query', name]),
  ];
  return places.flatMap((place): readonly UntracedProblem[] => {
    const text = valueAt(tool, place);
    if (typeof text !== 'string') return [];
    const wanted = placeholders(text).filter((name) => name !== 'member.id');
    const unknown = wanted.find((name) => !inputs.includes(name));
    if (unknown !== undefined) return unknownName([...path, ...place], 'input', unknown, inputs);
    const optional = wanted.find((name) => !required.includes(name));
    if (place[1] === 'query' || optional === undefined) return [];
    return [{ path: [...path, ...place], at: 'value', message: `needs "${optional}": name it in input.required` }];
  });
}

function memberWithoutScope(tool: unknown, path: Path): readonly UntracedProblem[] {
  if (listAt(tool, ['scopes']).length > 0) return [];
  const of = (key: string) => JSON.stringify(valueAt(tool, [key]) ?? null).includes('{member.id}');
  if (valueAt(tool, ['graphql']) === undefined && !['get', 'route', 'server'].some(of)) return [];
  const message = 'accesses data of the member, so it needs scopes, such as [account:read]';
  return [{ path: [...path, 'scopes'], at: 'key', message }];
}

function unknownArguments(prompt: unknown, path: Path): readonly UntracedProblem[] {
  const text = valueAt(prompt, ['text']);
  const names = listAt(prompt, ['arguments']).map((one) => String(valueAt(one, ['name'])));
  if (typeof text !== 'string') return [];
  const unknown = placeholders(text).find((name) => !names.includes(name));
  return unknownName([...path, 'text'], 'argument', unknown, names);
}

function placeholders(text: string): readonly string[] {
  return [...text.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name);
}
