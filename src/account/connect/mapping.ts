import {
  type ConstDirectiveNode,
  type FieldDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type ObjectTypeExtensionNode,
  parse,
  print,
  type SchemaExtensionNode,
  Source,
} from 'graphql';
import { type Connector, compileConnector, compileHeaders, type HeaderTemplate, TextReader } from './connector.ts';
import { type DirectiveArguments, literalAt, readDirective } from './directives.ts';
import { compileSelection, type Evaluate } from './evaluate.ts';
import { type Mistakes, placeOf } from './mistakes.ts';
import { ownFields } from './own-fields.ts';
import { type Allowed, CONTEXT_KEYS, PAGE_KEYS } from './references.ts';

export interface MappingFile {
  readonly file: string;
  readonly text: string;
}

/** A field with a call of its own. */
export interface FieldMapping {
  readonly coordinate: string;
  readonly node: ConstDirectiveNode;
  readonly connector: Connector;
  readonly pages: PageMapping | undefined;
  /** The contract's arguments that the mapping uses. */
  readonly usedArguments: ReadonlySet<string>;
}

export interface PageMapping {
  readonly pageSize: number;
  readonly nodes: Evaluate;
  readonly next: Evaluate | undefined;
  readonly total: Evaluate | undefined;
}

/** A type whose objects get fields from one call for many of them. */
export interface TypeMapping {
  readonly type: string;
  readonly connector: Connector;
  readonly key: string;
  readonly maxSize: number;
}

export interface Mapping {
  readonly sources: ReadonlyMap<string, readonly HeaderTemplate[]>;
  /** By coordinate, `Viewer.email`. */
  readonly fields: ReadonlyMap<string, FieldMapping>;
  /** By type name. */
  readonly types: ReadonlyMap<string, TypeMapping>;
  /** Coordinates and types whose mapping has mistakes of its own: nobody needs to hear that nothing gives them. */
  readonly unread: ReadonlySet<string>;
  /** Whether every file could be parsed. */
  readonly complete: boolean;
}

const PAGE_SIZES = { least: 10, most: 1000 };
const BATCH_SIZES = { least: 1, most: 1000 };

/**
 * Reads mapping files: `extend schema` with @source, and `extend type` that names fields of the contract again (with
 * their types, without their arguments) to hang @connect on them. Out: what could be read; mistakes go to the list.
 */
export function readMapping(
  files: readonly MappingFile[],
  contract: GraphQLSchema,
  upstreams: readonly string[],
  mistakes: Mistakes,
): Mapping {
  const reader = new MappingReader(contract, upstreams, mistakes);
  const extensions: ObjectTypeExtensionNode[] = [];
  for (const { file, text } of files) {
    try {
      for (const definition of parse(new Source(text, file)).definitions) {
        if (definition.kind === Kind.SCHEMA_EXTENSION) reader.schema(definition);
        else if (definition.kind === Kind.OBJECT_TYPE_EXTENSION) extensions.push(definition);
        else mistakes.add(placeOf(definition), 'mapping', 'a mapping file has only "extend schema" and "extend type"');
      }
    } catch (thrown) {
      if (!(thrown instanceof GraphQLError)) throw thrown;
      const { line, column } = thrown.locations?.[0] ?? { line: 1, column: 1 };
      mistakes.add({ file, line, column }, 'mapping', thrown.message);
      reader.complete = false;
    }
  }
  // Types after all schemas: a source may be named in another file.
  for (const extension of extensions) reader.type(extension);
  return reader;
}

class MappingReader implements Mapping {
  readonly sources = new Map<string, readonly HeaderTemplate[]>();
  readonly fields = new Map<string, FieldMapping>();
  readonly types = new Map<string, TypeMapping>();
  readonly unread = new Set<string>();
  complete = true;
  readonly #contract: GraphQLSchema;
  readonly #upstreams: readonly string[];
  readonly #mistakes: Mistakes;

  constructor(contract: GraphQLSchema, upstreams: readonly string[], mistakes: Mistakes) {
    this.#contract = contract;
    this.#upstreams = upstreams;
    this.#mistakes = mistakes;
  }

  schema(extension: SchemaExtensionNode): void {
    for (const node of extension.directives ?? []) {
      const coordinate = `@${node.name.value}`;
      if (node.name.value === 'link') readDirective('link', node, 'schema', this.#mistakes);
      else if (node.name.value === 'source') this.#source(node);
      else this.#wrong(node, 'schema', `${coordinate} has no meaning here`);
    }
  }

  #source(node: ConstDirectiveNode): void {
    const values = readDirective('source', node, 'schema', this.#mistakes);
    if (values === undefined) return;
    const place = literalAt(node, 'name');
    const { name } = values;
    if (this.sources.has(name)) this.#wrong(place, 'schema', `the source "${name}" is named twice`);
    if (!this.#upstreams.includes(name)) {
      this.#wrong(place, 'schema', `the configuration has no upstream "${name}", only ${this.#upstreams.join(', ')}`);
    }
    const reader = new TextReader('schema', this.#mistakes);
    const site = { node, coordinate: 'schema', mistakes: this.#mistakes, reader };
    this.sources.set(name, compileHeaders(values.http?.headers ?? [], site) ?? []);
  }

  type(extension: ObjectTypeExtensionNode): void {
    const name = extension.name.value;
    const type = this.#contract.getType(name);
    if (!isObjectType(type)) {
      this.#wrong(extension.name, name, 'the contract has no such object type');
      return;
    }
    for (const node of extension.directives ?? []) {
      if (node.name.value === 'connect') this.#typeConnector(node, name, new Set(Object.keys(type.getFields())));
      else this.#wrong(node, name, `@${node.name.value} has no meaning here`);
    }
    for (const field of extension.fields ?? []) this.#field(name, field);
  }

  #typeConnector(node: ConstDirectiveNode, type: string, keys: ReadonlySet<string>): void {
    this.unread.add(type);
    const values = readDirective('connect', node, type, this.#mistakes);
    if (values === undefined || !this.#knownSource(values, node, type)) return;
    if (this.types.has(type)) {
      this.#wrong(node, type, 'has a second @connect');
      return;
    }
    const maxSize = values.batch?.maxSize;
    if (maxSize === undefined) {
      this.#wrong(node, type, 'a @connect on a type needs batch');
      return;
    }
    this.#within(maxSize, BATCH_SIZES, 'batch.maxSize', node, type);
    const reader = new TextReader(type, this.#mistakes);
    const inRequest = { context: CONTEXT_KEYS, batch: keys };
    const inSelection = { context: CONTEXT_KEYS };
    const site = { node, coordinate: type, mistakes: this.#mistakes, reader, inRequest, inSelection };
    const connector = compileConnector(values, site);
    if (connector === undefined) return;
    const [key, ...more] = reader.named.get('batch') ?? [];
    if (key === undefined || more.length > 0) {
      this.#wrong(literalAt(node, 'http', 'GET'), type, 'http names exactly one key of the objects as $batch.key');
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
      this.#wrong(field, coordinate, 'comes from the access token and has no mapping');
      return;
    }
    if (print(field.type) !== String(known.type)) {
      this.#wrong(field.type, coordinate, `is ${known.type} in the contract, not ${print(field.type)}`);
      return;
    }
    const [argument] = field.arguments ?? [];
    if (argument !== undefined) this.#wrong(argument, coordinate, 'arguments stand in the contract only');
    let [connect, connection]: (ConstDirectiveNode | undefined)[] = [];
    for (const node of field.directives ?? []) {
      if (node.name.value === 'connect') connect = node;
      else if (node.name.value === 'connection') connection = node;
      else this.#wrong(node, coordinate, `@${node.name.value} has no meaning here`);
    }
    if (connect === undefined) {
      this.#wrong(field, coordinate, 'needs @connect');
      return;
    }
    if (this.fields.has(coordinate)) {
      this.#wrong(field, coordinate, 'is mapped twice');
      return;
    }
    this.#fieldConnector(connect, connection, coordinate, new Set(known.args.map((each) => each.name)));
  }

  #fieldConnector(
    node: ConstDirectiveNode,
    connection: ConstDirectiveNode | undefined,
    coordinate: string,
    args: ReadonlySet<string>,
  ): void {
    const values = readDirective('connect', node, coordinate, this.#mistakes);
    const paging =
      connection === undefined ? undefined : readDirective('connection', connection, coordinate, this.#mistakes);
    if (values === undefined || !this.#knownSource(values, node, coordinate)) return;
    if (values.batch !== undefined) this.#wrong(node, coordinate, 'batch belongs to a @connect on a type');
    const reader = new TextReader(coordinate, this.#mistakes);
    // A connection's own arguments choose the window and are not the mapping's.
    const own = new Set([...args].filter((name) => connection === undefined || (name !== 'first' && name !== 'after')));
    const inSelection: Allowed = { context: CONTEXT_KEYS, args: own };
    const inRequest: Allowed = connection === undefined ? inSelection : { ...inSelection, page: PAGE_KEYS };
    const site = { node, coordinate, mistakes: this.#mistakes, reader, inRequest, inSelection };
    const connector = compileConnector(values, site);
    const pages = connection && paging && this.#pages(paging, connection, coordinate, reader);
    if (connector === undefined || (connection !== undefined && pages === undefined)) return;
    if (connection !== undefined && !reader.named.get('page')?.has('number')) {
      this.#wrong(connection, coordinate, '@connection: http does not ask for $page.number');
    }
    const used = new Set(reader.named.get('args'));
    if (connection !== undefined) for (const name of ['first', 'after']) used.add(name);
    this.unread.delete(coordinate);
    this.fields.set(coordinate, { coordinate, node, connector, pages, usedArguments: used });
  }

  #pages(
    values: DirectiveArguments['connection'],
    node: ConstDirectiveNode,
    coordinate: string,
    reader: TextReader,
  ): PageMapping | undefined {
    this.#within(values.pageSize, PAGE_SIZES, 'pageSize', node, coordinate);
    const compile = (name: 'nodes' | 'next' | 'total'): Evaluate | undefined => {
      if (typeof values[name] !== 'string') return undefined;
      const selection = reader.selection(literalAt(node, name), {});
      return selection && compileSelection(selection);
    };
    const nodes = compile('nodes');
    const [next, total] = [compile('next'), compile('total')];
    return nodes && { pageSize: values.pageSize, nodes, next, total };
  }

  #knownSource({ source }: DirectiveArguments['connect'], node: ConstDirectiveNode, coordinate: string): boolean {
    if (this.sources.has(source)) return true;
    this.#wrong(literalAt(node, 'source'), coordinate, `no @source is named "${source}"`);
    return false;
  }

  #within(
    value: number,
    { least, most }: typeof PAGE_SIZES,
    name: string,
    node: ConstDirectiveNode,
    coordinate: string,
  ): void {
    if (value < least || value > most) this.#wrong(node, coordinate, `${name} is from ${least} to ${most}`);
  }

  #wrong(node: Parameters<typeof placeOf>[0], coordinate: string, message: string): void {
    this.#mistakes.add(placeOf(node), coordinate, message);
  }
}
