import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLOutputType,
  getNamedType,
  getOperationAST,
  isObjectType,
  type SelectionSetNode,
} from 'graphql';
import type { Connector } from './connect/connector.ts';
import { givenByBatch, type Mapping } from './connect/mapping.ts';
import { type FilePosition, placeOf } from './connect/mistakes.ts';
import { membersOf, type Selection } from './connect/syntax.ts';
import type { FailedField } from './errors.ts';
import { fieldsOf, fragmentsOf } from './read-fields.ts';
import type { AccountSchema } from './schema.ts';

/** The fields of a connection that are not part of the mapping's selection. */
const OF_CONNECTION = ['nodes', 'edges', 'node'];

interface Step {
  readonly type: string;
  readonly name: string;
}

/** Names the field of an error for the log. Undefined for an error that is not about one field. */
export function failedField(
  { path }: GraphQLError,
  { schema, mapping }: AccountSchema,
  document: DocumentNode,
  operationName: string | undefined,
): FailedField | undefined {
  const operation = getOperationAST(document, operationName);
  let type: unknown = operation && schema.getRootType(operation.operation);
  let sets: readonly SelectionSetNode[] = operation ? [operation.selectionSet] : [];
  const fragments = fragmentsOf(document);
  const steps: Step[] = [];
  let declared: GraphQLOutputType | undefined;
  for (const key of path ?? []) {
    if (typeof key === 'number') continue;
    const nodes = sets
      .flatMap((set) => fieldsOf(fragments, set))
      .filter((node) => (node.alias ?? node.name).value === key);
    const name = nodes[0]?.name.value;
    const field = isObjectType(type) && name !== undefined ? type.getFields()[name] : undefined;
    if (field === undefined || !isObjectType(type)) return undefined;
    steps.push({ type: type.name, name: field.name });
    declared = field.type;
    type = getNamedType(field.type);
    sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  }
  const last = steps.at(-1);
  if (last === undefined || declared === undefined) return undefined;
  const origin = originOf(mapping, steps);
  const at = origin === undefined ? '' : ` (${origin.place.file}:${origin.place.line}, ${origin.reads})`;
  return { where: `${last.type}.${last.name}${at}`, type: declared };
}

interface Origin {
  readonly place: FilePosition;
  readonly reads: string;
}

/** Where the last of these nested fields comes from, in the innermost call that provides it. */
function originOf(mapping: Mapping, steps: readonly Step[]): Origin | undefined {
  for (const [index, { type, name }] of [...steps.entries()].reverse()) {
    const coordinate = `${type}.${name}`;
    const remote = mapping.remote.fields.get(coordinate);
    if (remote !== undefined)
      return { place: placeOf(remote.node), reads: `${remote.root ?? remote.name ?? name} of ${remote.source}` };
    const inner = steps.slice(index + 1).map((step) => step.name);
    const field = mapping.fields.get(coordinate);
    if (field !== undefined) {
      const names = field.pages === undefined ? inner : inner.filter((each) => !OF_CONNECTION.includes(each));
      const origin = originInSelection(field.connector, names);
      return names.length === 0 ? { ...origin, place: placeOf(field.node) } : origin;
    }
    const batch = mapping.types.get(type);
    if (batch !== undefined && givenByBatch(batch, name) !== undefined)
      return originInSelection(batch.connector, [name, ...inner]);
  }
  return undefined;
}

/** The member that these nested names lead to, or the last of them that is found, with the keys that lead to its value. */
function originInSelection(connector: Connector, names: readonly string[]): Origin {
  let found: { readonly at: number } = connector.selection;
  let inner: Selection = connector.selection;
  const keys = keysOf(inner);
  for (const name of names) {
    const member = membersOf(inner)?.find((each) => each.name === name);
    if (member === undefined) break;
    found = member;
    inner = member.value;
    keys.push(...keysOf(inner));
  }
  const call = `${connector.call} of ${connector.source}`;
  return { place: connector.placeOf(found.at), reads: keys.length === 0 ? call : `${keys.join('.')} in ${call}` };
}

/** The keys that an expression reads one after the other; of alternatives, those of the first. */
function keysOf(selection: Selection): string[] {
  const chain = selection.kind === 'coalesce' ? selection.chains[0] : undefined;
  const parts = chain === undefined ? [] : [chain.head, ...chain.steps];
  return parts.flatMap((part) => (part.kind === 'key' ? [part.name] : []));
}
