import { UNDESCRIBED } from '../../config/warnings.ts';
import { isObject, objectOf } from '../../http/json-object.ts';
import { cleanValue } from '../cleaning.ts';
import { collect, MEMBER, type Proposals, type ToolProposal, toolName } from '../import.ts';
import { schemaCompiler } from '../json-schema.ts';
import { simplified, textOf } from '../openapi-operations.ts';
import { OWN_ID } from '../settings-checks.ts';
import type { Listed } from './connect.ts';
import { type Definition, hashOf } from './definition.ts';

interface From {
  readonly upstream: string;
  readonly path: string;
  readonly scopes: readonly string[];
  readonly writes: boolean;
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
const NAME = /^[A-Za-z0-9_./-]{1,128}$/;
const LONGEST = 2000;

/** Proposes a tool for each of a server; those that may change something only with `writes`. */
export async function proposeFromServer(listed: Listed, from: From): Promise<Proposals> {
  const found = [...listed].map(async ([name, definition]) => {
    const shown = JSON.stringify(name.slice(0, 128));
    if (definition === undefined) return `${shown}: it is listed twice`;
    if (!NAME.test(name)) return `${shown}: its name has characters that no name may have`;
    if (!from.writes && objectOf(definition.annotations).readOnlyHint !== true)
      return `${shown}: it may change something; --writes proposes it too`;
    if (JSON.stringify(definition.inputSchema ?? {}).includes('"x-mcp-header"'))
      return `${shown}: it wants arguments in header fields`;
    return proposalOf(definition, from);
  });
  return collect(await Promise.all(found));
}

/** The tool as the configuration has it, in the words of the server, which are cleaned like those of results. */
export async function proposalOf(
  definition: Definition,
  { upstream, path, scopes }: Omit<From, 'writes'>,
): Promise<ToolProposal> {
  const clean = objectOf(await cleanValue(definition, LONGEST));
  const { name } = definition;
  const [hints, schema] = [objectOf(clean.annotations), objectOf(clean.inputSchema)];
  const title = textOf(clean.title) ?? textOf(hints.title) ?? name.replace(/[^A-Za-z0-9]+/g, ' ').trim();
  const all = Object.entries(objectOf(simplified({ ...schema, type: 'object' }).properties));
  const inputs = Object.fromEntries(all.filter(([one]) => !OWN_ID.test(one)));
  const required = [schema.required ?? []].flat().filter((one) => Object.hasOwn(inputs, String(one)));
  const set = Object.fromEntries(all.flatMap(([one]) => (MEMBER.test(one) ? [[one, '{member.id}']] : [])));
  const said = HINTS.flatMap((key) => (typeof hints[key] === 'boolean' ? [[key, hints[key]]] : []));
  const { $schema: _, ...output } = { ...objectOf(clean.outputSchema), type: 'object' } as Record<string, unknown>;
  const hasOutput = isObject(clean.outputSchema) && typeof schemaCompiler()(output) === 'function';
  return {
    name: /^[A-Za-z0-9_-]{1,64}$/.test(name) ? name : toolName(name),
    title: title.slice(0, 80),
    description: textOf(clean.description)?.slice(0, LONGEST) ?? `${UNDESCRIBED} ${title}.`,
    scopes,
    ...(all.length === 0 ? {} : { input: { properties: inputs, ...(required.length === 0 ? {} : { required }) } }),
    ...(hasOutput ? { output } : {}),
    ...(said.length === 0 ? {} : { annotations: Object.fromEntries(said) }),
    server: {
      ...{ upstream, path, tool: name, hash: hashOf(definition) },
      ...(Object.keys(set).length === 0 ? {} : { arguments: set }),
    },
  };
}
