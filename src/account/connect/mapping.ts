import {
  type ConstDirectiveNode,
  type FieldDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type ObjectTypeExtensionNode,
  print,
  type SchemaExtensionNode,
} from 'graphql';
import type { TextFile } from '../../config/account-files.ts';
import { type RemoteExtension, type RemoteMapping, readRemoteMapping, remotePart } from '../remote/mapping.ts';
import { parseSdl } from '../sdl.ts';
import { type Connector, compileConnector, compileHeaders, type HeaderTemplate } from './connector.ts';
import { type ConnectionStyle, type DirectiveArguments, literalAt, METHODS, readDirective } from './directives.ts';
import { compileSelection, type Evaluate } from './evaluate.ts';
import { inputKeys } from './input-keys.ts';
import { type Mistakes, placeOf } from './mistakes.ts';
import { compileOutcome, type Outcome } from './outcome.ts';
import { ownFields } from './own-fields.ts';
import { type Allowed, CONTEXT_KEYS, keys } from './references.ts';
import { TextReader } from './text-reader.ts';

/** A field with its own upstream call. */
export interface FieldMapping {
  readonly coordinate: string;
  readonly node: ConstDirectiveNode;
  readonly connector: Connector;
  readonly pages: PageMapping | undefined;
  /** The field's arguments that the mapping uses. */
  readonly usedArguments: ReadonlySet<string>;
  /** The fields of the parent object that the mapping uses. */
  readonly usedSiblings: ReadonlySet<string>;
}

export interface PageMapping {
  readonly style: ConnectionStyle;
  /** Items per page; for style ALL, the limit on the whole list. */
  readonly pageSize: number;
  readonly nodes: Evaluate;
  readonly next: Evaluate | undefined;
  readonly total: Evaluate | undefined;
}

/** A type whose objects get fields from a batched call. */
export interface TypeMapping {
  readonly type: string;
  readonly connector: Connector;
  readonly key: string;
  readonly maxSize: number;
}

/** An upstream, with the settings of all calls to it. */
interface SourceMapping {
  readonly headers: readonly HeaderTemplate[];
  readonly outcome: Outcome;
  /** The path that operations are posted to; undefined if the upstream does not speak GraphQL. */
  readonly graphql: { readonly path: string } | undefined;
}

/** The names that mappings can refer to besides those of the contract. */
export interface MappingNames {
  readonly upstreams: readonly string[];
  /** The upstreams with one key for all members, which therefore return any member's records. */
  readonly keyed?: readonly string[] | undefined;
  /** The keys of $config. Secret ones can be used in calls but never in a selection. */
  readonly config: { readonly open: readonly string[]; readonly secret: readonly string[] };
}

export interface Mapping {
  readonly sources: ReadonlyMap<string, SourceMapping>;
  /** Keyed by coordinate, such as `Viewer.email`. */
  readonly fields: ReadonlyMap<string, FieldMapping>;
  /** Keyed by type name. */
  readonly types: ReadonlyMap<string, TypeMapping>;
  /** The fields that come from GraphQL upstreams. */
  readonly remote: RemoteMapping;
  /** Coordinates and types whose mapping has mistakes, so that they are not also reported as unmapped. */
  readonly unread: ReadonlySet<string>;
  /** Whether every file could be parsed. */
  readonly complete: boolean;
}

const PAGE_SIZES = { least: 10, most: 1000 };
/** Limit on a list without pages; the response size limits it further. */
const WHOLE_LIST = 1_000_000;
const PAGE_KEYS: Readonly<Record<ConnectionStyle, readonly string[]>> = {
  PAGE: ['number', 'size'],
  OFFSET: ['offset', 'size'],
  CURSOR: ['cursor', 'size'],
  ALL: [],
};
const BATCH_SIZES = { least: 1, most: 1000 };

/**
 * Reads mapping files: `extend schema` with @source, and `extend type`, which repeats fields of the contract (with their
 * types, without their arguments) to put @connect on them. Returns what could be read; mistakes are added to the list.
 */
export function readMapping(
  files: readonly TextFile[],
  contract: GraphQLSchema,
  names: MappingNames,
  mistakes: Mistakes,
): Mapping {
  const reader = new MappingReader(contract, names, mistakes);
  const extensions: ObjectTypeExtensionNode[] = [];
  const remote: RemoteExtension[] = [];
  for (const file of files) {
    const document = parseSdl(file, 'mapping', mistakes);
    if (document === undefined) reader.complete = false;
    for (const definition of document?.definitions ?? []) {
      if (definition.kind === Kind.SCHEMA_EXTENSION) reader.schema(definition);
      else if (definition.kind === Kind.OBJECT_TYPE_EXTENSION) {
        const { own, rest } = remotePart(definition);
        if (own !== undefined) remote.push(own);
        if (rest !== undefined) extensions.push(rest);
      } else if (definition.kind === Kind.ENUM_TYPE_EXTENSION || definition.kind === Kind.INPUT_OBJECT_TYPE_EXTENSION) {
        remote.push(definition);
      } else {
        const message =
          'a mapping file can only contain "extend schema", "extend type", "extend enum" and "extend input"';
        mistakes.add(placeOf(definition), 'mapping', message);
      }
    }
  }
  // Types are read after all schemas, because a source may be declared in another file.
  for (const extension of extensions) reader.type(extension);
  reader.remote = readRemoteMapping(remote, contract, reader, mistakes);
  return reader;
}

class MappingReader implements Mapping {
  readonly sources = new Map<string, SourceMapping>();
  readonly fields = new Map<string, FieldMapping>();
  readonly types = new Map<string, TypeMapping>();
  readonly unread = new Set<string>();
  remote: RemoteMapping = { fields: new Map(), names: new Map() };
  complete = true;
  readonly #contract: GraphQLSchema;
  readonly #upstreams: readonly string[];
  readonly #keyed: readonly string[];
  readonly #mistakes: Mistakes;
  /** The variables allowed in every call, and in every selection. */
  readonly #inRequest: Allowed;
  readonly #inSelection: Allowed;

  constructor(contract: GraphQLSchema, { upstreams, keyed = [], config }: MappingNames, mistakes: Mistakes) {
    this.#contract = contract;
    this.#upstreams = upstreams;
    this.#keyed = keyed;
    this.#mistakes = mistakes;
    this.#inRequest = { context: CONTEXT_KEYS, config: keys([...config.open, ...config.secret]) };
    this.#inSelection = { context: CONTEXT_KEYS, config: keys(config.open) };
  }

  schema(extension: SchemaExtensionNode): void {
    for (const node of extension.directives ?? []) {
      const coordinate = `@${node.name.value}`;
      if (node.name.value === 'link') readDirective('link', node, 'schema', this.#mistakes);
      else if (node.name.value === 'source') this.#source(node);
      else this.#wrong(node, 'schema', `${coordinate} is not allowed here`);
    }
  }

  #source(node: ConstDirectiveNode): void {
    const values = readDirective('source', node, 'schema', this.#mistakes);
    if (values === undefined) return;
    const place = literalAt(node, 'name');
    const { name } = values;
    if (this.sources.has(name)) this.#wrong(place, 'schema', `the source "${name}" is declared twice`);
    if (!this.#upstreams.includes(name)) {
      this.#wrong(place, 'schema', `the configuration has no upstream "${name}", only ${this.#upstreams.join(', ')}`);
    }
    if (this.#keyed.includes(name) && values.graphql !== undefined) {
      this.#wrong(place, 'schema', `"${name}" has one key for all members, so it cannot be used with GraphQL`);
    }
    const reader = new TextReader('schema', this.#mistakes);
    const site = { node, coordinate: 'schema', mistakes: this.#mistakes, reader, allowed: this.#inRequest };
    const headers = compileHeaders(values.http?.headers ?? [], site) ?? [];
    const outcome = compileOutcome(values, site, this.#inSelection);
    this.sources.set(name, { headers, outcome, graphql: values.graphql });
  }

  type(extension: ObjectTypeExtensionNode): void {
    const name = extension.name.value;
    const type = this.#contract.getType(name);
    if (!isObjectType(type)) {
      this.#wrong(extension.name, name, 'the contract has no such object type');
      return;
    }
    for (const node of extension.directives ?? []) {
      if (node.name.value === 'connect') this.#typeConnector(node, name, Object.keys(type.getFields()));
      else this.#wrong(node, name, `@${node.name.value} is not allowed here`);
    }
    for (const field of extension.fields ?? []) this.#field(name, field);
  }

  #typeConnector(node: ConstDirectiveNode, type: string, fields: Iterable<string>): void {
    this.unread.add(type);
    const values = readDirective('connect', node, type, this.#mistakes);
    if (values === undefined || !this.#knownSource(values, node, type)) return;
    if (this.types.has(type)) {
      this.#wrong(node, type, 'already has a @connect');
      return;
    }
    const maxSize = values.batch?.maxSize;
    if (maxSize === undefined) {
      this.#wrong(node, type, 'a @connect on a type needs batch');
      return;
    }
    this.#within(maxSize, BATCH_SIZES, 'batch.maxSize', node, type);
    const reader = new TextReader(type, this.#mistakes);
    const connector = compileConnector(values, {
      ...this.#reads(node, type, reader),
      inRequest: { ...this.#inRequest, batch: keys(fields) },
      inSelection: this.#inSelection,
    });
    if (connector === undefined || !this.#keptToMember(connector, node, type)) return;
    const [key, ...more] = reader.named.get('batch') ?? [];
    if (key === undefined || more.length > 0) {
      this.#wrong(node, type, 'http must use exactly one key of the objects as $batch.key');
      return;
    }
    this.unread.delete(type);
    this.types.set(type, { type, connector, key, maxSize });
  }

  #field(type: string, field: FieldDefinitionNode): void {
    const coordinate = `${type}.${field.name.value}`;
    const contract = this.#contract.getType(type);
    const known = isObjectType(contract) ? contract.getFields()[field.name.value] : undefined;
    if (known === undefined) {
      this.#wrong(field, coordinate, 'the contract has no such field');
      return;
    }
    if (!this.fields.has(coordinate)) this.unread.add(coordinate);
    if (Object.values(ownFields(this.#contract)).includes(coordinate)) {
      this.#wrong(field, coordinate, 'comes from the access token and cannot be mapped');
      return;
    }
    if (print(field.type) !== String(known.type)) {
      this.#wrong(field.type, coordinate, `is ${known.type} in the contract, not ${print(field.type)}`);
      return;
    }
    const [argument] = field.arguments ?? [];
    if (argument !== undefined) this.#wrong(argument, coordinate, 'arguments belong in the contract, not here');
    let [connect, connection]: (ConstDirectiveNode | undefined)[] = [];
    for (const node of field.directives ?? []) {
      if (node.name.value === 'connect') connect = node;
      else if (node.name.value === 'connection') connection = node;
      else this.#wrong(node, coordinate, `@${node.name.value} is not allowed here`);
    }
    if (connect === undefined) {
      this.#wrong(field, coordinate, 'needs @connect');
      return;
    }
    if (this.fields.has(coordinate)) {
      this.#wrong(field, coordinate, 'is mapped twice');
      return;
    }
    this.#fieldConnector(connect, connection, coordinate, contract as GraphQLObjectType, known);
  }

  #fieldConnector(
    node: ConstDirectiveNode,
    connection: ConstDirectiveNode | undefined,
    coordinate: string,
    type: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
  ): void {
    const values = readDirective('connect', node, coordinate, this.#mistakes);
    const paging =
      connection === undefined ? undefined : readDirective('connection', connection, coordinate, this.#mistakes);
    if (values === undefined || !this.#knownSource(values, node, coordinate)) return;
    if (values.batch !== undefined) this.#wrong(node, coordinate, 'batch is only for a @connect on a type');
    const writes = type === this.#contract.getMutationType();
    if (writes && connection !== undefined) {
      this.#wrong(connection, coordinate, '@connection: a mutation cannot be a connection');
    }
    const reader = new TextReader(coordinate, this.#mistakes);
    const args = inputKeys(field.args, paging === undefined ? [] : ['first', 'after']);
    const isRoot = writes || type === this.#contract.getQueryType();
    const siblings = isRoot ? {} : { this: keys(Object.keys(type.getFields())) };
    const page = paging === undefined ? {} : { page: keys(PAGE_KEYS[paging.style]) };
    const connector = compileConnector(values, {
      ...this.#reads(node, coordinate, reader),
      ...(writes ? { writes, methods: METHODS } : {}),
      inRequest: { ...this.#inRequest, args, ...siblings, ...page },
      inSelection: { ...this.#inSelection, args, ...siblings },
    });
    const pages = connection && paging && this.#pages(paging, connection, coordinate, reader);
    if (connector === undefined || (connection !== undefined && pages === undefined)) return;
    if (!this.#keptToMember(connector, node, coordinate)) return;
    const [place] = pages === undefined ? [] : PAGE_KEYS[pages.style];
    if (connection !== undefined && place !== undefined && !reader.named.get('page')?.has(place)) {
      this.#wrong(connection, coordinate, `@connection: http does not use $page.${place}`);
    }
    const used = new Set(reader.named.get('args'));
    // `first` and `after` of a connection choose the window and are not available to the mapping.
    if (connection !== undefined) for (const name of ['first', 'after']) used.add(name);
    this.unread.delete(coordinate);
    const usedSiblings = new Set(reader.named.get('this'));
    this.fields.set(coordinate, { coordinate, node, connector, pages, usedArguments: used, usedSiblings });
  }

  /** Checks for every connector that only reads. */
  #reads(node: ConstDirectiveNode, coordinate: string, reader: TextReader) {
    const methods = ['GET', 'POST'] as const;
    return { node, coordinate, mistakes: this.#mistakes, reader, methods, writes: false };
  }

  #pages(
    values: DirectiveArguments['connection'],
    node: ConstDirectiveNode,
    coordinate: string,
    reader: TextReader,
  ): PageMapping | undefined {
    const { style } = values;
    const wrong = (message: string) => this.#wrong(node, coordinate, `@connection: ${message}`);
    const pageSize = values.pageSize ?? undefined;
    if (style === 'ALL' && pageSize !== undefined) wrong('style ALL has no pageSize');
    if (style === 'ALL' && values.next != null) wrong('style ALL has no next');
    if (style !== 'ALL' && pageSize === undefined) wrong('the argument pageSize is missing');
    if (style === 'CURSOR' && values.next == null) wrong('the argument next is missing');
    if (pageSize !== undefined) this.#within(pageSize, PAGE_SIZES, 'pageSize', node, coordinate);
    const compile = (name: 'nodes' | 'next' | 'total'): Evaluate | undefined => {
      if (typeof values[name] !== 'string') return undefined;
      const selection = reader.selection(literalAt(node, name), {});
      return selection && compileSelection(selection);
    };
    const nodes = compile('nodes');
    const [next, total] = [compile('next'), compile('total')];
    return nodes && { style, pageSize: pageSize ?? WHOLE_LIST, nodes, next, total };
  }

  #knownSource({ source }: DirectiveArguments['connect'], node: ConstDirectiveNode, coordinate: string): boolean {
    if (this.sources.has(source)) return true;
    this.#wrong(literalAt(node, 'source'), coordinate, `no @source is named "${source}"`);
    return false;
  }

  #keptToMember({ source, namesMember }: Connector, node: ConstDirectiveNode, coordinate: string): boolean {
    if (namesMember || !this.#keyed.includes(source)) return true;
    const message = `"${source}" has one key for all members, so http must use $context.sub`;
    this.#wrong(literalAt(node, 'source'), coordinate, message);
    return false;
  }

  #within(
    value: number,
    { least, most }: typeof PAGE_SIZES,
    name: string,
    node: ConstDirectiveNode,
    coordinate: string,
  ): void {
    if (value < least || value > most) this.#wrong(node, coordinate, `${name} must be from ${least} to ${most}`);
  }

  #wrong(node: Parameters<typeof placeOf>[0], coordinate: string, message: string): void {
    this.#mistakes.add(placeOf(node), coordinate, message);
  }
}
