import {
  type ConstDirectiveNode,
  type EnumTypeExtensionNode,
  type GraphQLSchema,
  type InputObjectTypeExtensionNode,
  isEnumType,
  isInputObjectType,
  isObjectType,
  Kind,
  type ObjectTypeExtensionNode,
  print,
  type TypeNode,
} from 'graphql';
import { literalAt, readDirective, type UpstreamArgument } from '../connect/directives.ts';
import { type Mistakes, placeOf } from '../connect/mistakes.ts';
import { ownFields } from '../connect/own-fields.ts';

/** A field of the contract that starts an operation to a GraphQL upstream. */
export interface RemoteField {
  readonly coordinate: string;
  readonly node: ConstDirectiveNode;
  readonly source: string;
  /** The upstream's root field that returns the member; undefined when the field is itself a root field. */
  readonly root: string | undefined;
  /** The argument for the member's id. */
  readonly member: string | undefined;
  readonly name: string | undefined;
  readonly arguments: readonly UpstreamArgument[];
}

/** The upstream's name for a part of the contract. */
export interface UpstreamName {
  readonly node: ConstDirectiveNode;
  readonly name: string;
  readonly arguments: readonly UpstreamArgument[];
}

export interface RemoteMapping {
  /** Keyed by coordinate, such as `Viewer.eventRegistrations`. */
  readonly fields: ReadonlyMap<string, RemoteField>;
  /** Keyed by source and coordinate (`Event`, `Event.title`, `EventStatus.CONFIRMED`), in the order of the file. */
  readonly names: ReadonlyMap<string, readonly UpstreamName[]>;
}

export type RemoteExtension = ObjectTypeExtensionNode | EnumTypeExtensionNode | InputObjectTypeExtensionNode;

/** The upstream's names for a part of the contract; empty when none are declared. */
export function upstreamNames(mapping: RemoteMapping, source: string, coordinate: string): readonly UpstreamName[] {
  return mapping.names.get(`${source} ${coordinate}`) ?? [];
}

const REMOTE: ReadonlySet<string> = new Set(['graphql', 'upstreamName']);
const isRemote = (node: ConstDirectiveNode): boolean => REMOTE.has(node.name.value);

/** Splits a type extension: the fields with @graphql or @upstreamName, and the rest, which belongs to connectors. */
export function remotePart(extension: ObjectTypeExtensionNode): {
  readonly own: ObjectTypeExtensionNode | undefined;
  readonly rest: ObjectTypeExtensionNode | undefined;
} {
  const directives = extension.directives ?? [];
  const fields = extension.fields ?? [];
  const remoteField = (field: (typeof fields)[number]) => field.directives?.some(isRemote) === true;
  const own = { ...extension, directives: directives.filter(isRemote), fields: fields.filter(remoteField) };
  const rest = {
    ...extension,
    directives: directives.filter((node) => !isRemote(node)),
    fields: fields.filter((field) => !remoteField(field)),
  };
  const some = (part: typeof own) => part.directives.length > 0 || part.fields.length > 0;
  return { own: some(own) ? own : undefined, rest: some(rest) || !some(own) ? rest : undefined };
}

/** The parts of the rest of the mapping that the reader needs. */
interface Around {
  readonly sources: ReadonlyMap<string, { readonly graphql: object | undefined }>;
  readonly fields: ReadonlyMap<string, unknown>;
  readonly unread: Set<string>;
}

/** Reads the mappings of GraphQL upstreams. Returns what could be read; mistakes are added to the list. */
export function readRemoteMapping(
  extensions: readonly RemoteExtension[],
  contract: GraphQLSchema,
  around: Around,
  mistakes: Mistakes,
): RemoteMapping {
  const reader = new RemoteReader(contract, around, mistakes);
  for (const extension of extensions) reader.extension(extension);
  return reader;
}

class RemoteReader implements RemoteMapping {
  readonly fields = new Map<string, RemoteField>();
  readonly names = new Map<string, UpstreamName[]>();
  readonly #contract: GraphQLSchema;
  readonly #around: Around;
  readonly #mistakes: Mistakes;

  constructor(contract: GraphQLSchema, around: Around, mistakes: Mistakes) {
    this.#contract = contract;
    this.#around = around;
    this.#mistakes = mistakes;
  }

  extension(extension: RemoteExtension): void {
    const name = extension.name.value;
    const type = this.#contract.getType(name);
    const known =
      extension.kind === Kind.OBJECT_TYPE_EXTENSION
        ? isObjectType(type) && type.getFields()
        : extension.kind === Kind.INPUT_OBJECT_TYPE_EXTENSION
          ? isInputObjectType(type) && type.getFields()
          : isEnumType(type) && Object.fromEntries(type.getValues().map((value) => [value.name, undefined]));
    if (known === false) {
      this.#wrong(extension.name, name, 'the contract has no such type');
      return;
    }
    for (const node of extension.directives ?? []) {
      if (extension.kind === Kind.OBJECT_TYPE_EXTENSION && node.name.value === 'upstreamName') this.#name(node, name);
      else this.#wrong(node, name, `@${node.name.value} is not allowed here`);
    }
    const parts = extension.kind === Kind.ENUM_TYPE_EXTENSION ? extension.values : extension.fields;
    for (const part of parts ?? []) {
      const coordinate = `${name}.${part.name.value}`;
      if (!Object.hasOwn(known, part.name.value)) {
        this.#wrong(part, coordinate, 'the contract has nothing with this name');
        continue;
      }
      if ('type' in part) this.#sameType(part.type, coordinate, String(known[part.name.value]?.type));
      if ('arguments' in part && part.arguments?.[0] !== undefined) {
        this.#wrong(part.arguments[0], coordinate, 'arguments belong in the contract, not here');
      }
      const directives: readonly ConstDirectiveNode[] = part.directives ?? [];
      if (directives.length === 0) this.#wrong(part, coordinate, 'needs @upstreamName');
      for (const node of directives) {
        if (node.name.value === 'upstreamName') this.#name(node, coordinate);
        else if (node.name.value === 'graphql' && extension.kind === Kind.OBJECT_TYPE_EXTENSION) {
          this.#field(node, coordinate, name);
        } else this.#wrong(node, coordinate, `@${node.name.value} is not allowed here`);
      }
    }
  }

  #name(node: ConstDirectiveNode, coordinate: string): void {
    const values = readDirective('upstreamName', node, coordinate, this.#mistakes);
    if (values === undefined || !this.#knownSource(values.source, node, coordinate)) return;
    const key = `${values.source} ${coordinate}`;
    const named = { node, name: values.name, arguments: values.arguments ?? [] };
    this.names.set(key, [...(this.names.get(key) ?? []), named]);
  }

  #field(node: ConstDirectiveNode, coordinate: string, type: string): void {
    const values = readDirective('graphql', node, coordinate, this.#mistakes);
    this.#around.unread.add(coordinate);
    if (values === undefined || !this.#knownSource(values.source, node, coordinate)) return;
    const own = ownFields(this.#contract);
    const [viewer] = own.id.split('.');
    const [query, mutation] = [this.#contract.getQueryType()?.name, this.#contract.getMutationType()?.name];
    if (Object.values(own).includes(coordinate)) {
      this.#wrong(node, coordinate, 'comes from the access token and cannot be mapped');
    } else if (type !== viewer && type !== query && type !== mutation) {
      const where = `${query}, ${viewer} or Mutation`;
      this.#wrong(node, coordinate, `@graphql is for fields of ${where}; everything below them is included`);
    } else if (this.fields.has(coordinate) || this.#around.fields.has(coordinate)) {
      this.#wrong(node, coordinate, 'is mapped twice');
    } else {
      this.#around.unread.delete(coordinate);
      this.fields.set(coordinate, {
        coordinate,
        node,
        source: values.source,
        root: values.root ?? undefined,
        member: values.member ?? undefined,
        name: values.name ?? undefined,
        arguments: values.arguments ?? [],
      });
    }
  }

  #sameType(written: TypeNode, coordinate: string, known: string): void {
    if (print(written) !== known) {
      this.#wrong(written, coordinate, `is ${known} in the contract, not ${print(written)}`);
    }
  }

  #knownSource(source: string, node: ConstDirectiveNode, coordinate: string): boolean {
    if (this.#around.sources.get(source)?.graphql !== undefined) return true;
    this.#wrong(literalAt(node, 'source'), coordinate, `no @source with graphql is named "${source}"`);
    return false;
  }

  #wrong(node: Parameters<typeof placeOf>[0], coordinate: string, message: string): void {
    this.#mistakes.add(placeOf(node), coordinate, message);
  }
}
