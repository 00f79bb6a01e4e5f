import { type ConstDirectiveNode, type GraphQLSchema, Kind } from 'graphql';
import { parseSdl } from '../sdl.ts';
import type { TextFile } from '../settings-files.ts';
import { compileHeaders } from './connector.ts';
import { DirectiveReader } from './directive-reader.ts';
import type { Mapping, MappingNames, MappingReading } from './mapping.ts';
import { type Mistakes, placeOf } from './mistakes.ts';
import { type Extension, isExtension, readExtension } from './read-extension.ts';
import { CONTEXT_KEYS, keys } from './references.ts';
import { compileResponseRules } from './response-rules.ts';

/**
 * Reads mapping files: `extend schema` with @source, and `extend type`, `enum` and `input`, which repeat parts of the
 * contract (fields with their types, without their arguments) to put directives on them. Returns what could be read;
 * mistakes are added to the list.
 */
export function readMapping(
  files: readonly TextFile[],
  contract: GraphQLSchema,
  names: MappingNames,
  mistakes: Mistakes,
): Mapping {
  const { open, secret } = names.config;
  const reading: MappingReading = {
    contract,
    names,
    mistakes,
    wrong: (node, coordinate, message) => mistakes.add(placeOf(node), coordinate, message),
    inRequest: { context: CONTEXT_KEYS, config: keys([...open, ...secret]) },
    inSelection: { context: CONTEXT_KEYS, config: keys(open) },
    sources: new Map(),
    fields: new Map(),
    types: new Map(),
    remote: { fields: new Map(), names: new Map() },
    timeZone: names.timeZone ?? 'UTC',
    unread: new Set(),
  };
  const documents = files.map((file) => parseSdl(file, 'mapping', mistakes));
  const extensions: Extension[] = [];
  for (const definition of documents.flatMap((document) => document?.definitions ?? [])) {
    if (definition.kind === Kind.SCHEMA_EXTENSION)
      for (const node of definition.directives ?? []) readSchemaDirective(reading, node);
    else if (isExtension(definition)) extensions.push(definition);
    else reading.wrong(definition, 'mapping', ONLY_EXTENSIONS);
  }
  // Types are read after all schemas, because a source may be declared in another file.
  for (const extension of extensions) readExtension(reading, extension);
  return { ...reading, complete: !documents.includes(undefined) };
}

const ONLY_EXTENSIONS =
  'a mapping file can only contain "extend schema", "extend type", "extend enum" and "extend input"';

/** Reads a directive of `extend schema`: a @source; a @link is ignored. */
function readSchemaDirective(reading: MappingReading, node: ConstDirectiveNode): void {
  const { names, sources, inRequest, inSelection } = reading;
  const reader = new DirectiveReader(node, 'schema', reading.mistakes);
  if (node.name.value === 'link') reader.arguments('link');
  else if (node.name.value !== 'source') reader.wrong(`@${node.name.value} is not allowed here`);
  else {
    const values = reader.arguments('source');
    if (values === undefined) return;
    const { name, graphql, http } = values;
    if (sources.has(name)) reader.wrong(`the source "${name}" is declared twice`, 'name');
    if (!names.upstreams.includes(name))
      reader.wrong(`the configuration has no upstream "${name}", only ${names.upstreams.join(', ')}`, 'name');
    if (names.keyed?.includes(name) && graphql !== undefined)
      reader.wrong(`"${name}" has one key for all members, so it cannot be used with GraphQL`, 'name');
    const headers = compileHeaders(http?.headers ?? [], reader, inRequest) ?? [];
    sources.set(name, { headers, response: compileResponseRules(reader, inSelection), graphql });
  }
}
