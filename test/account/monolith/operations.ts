import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql';

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface RandomOperation {
  readonly query: string;
  /** Returns new values for the variables at each call. */
  readonly draw: () => Readonly<Record<string, unknown>>;
}

/** A random operation on a schema. It is invalid if two fields with the same name differ, so validate it. */
export function randomOperation(schema: GraphQLSchema, random: () => number): RandomOperation {
  return new Writer(schema, random).operation();
}

const DEEPEST = 7;

class Writer {
  readonly #schema: GraphQLSchema;
  readonly #random: () => number;
  readonly #variables: string[] = [];
  /** The value of each variable; undefined omits it. */
  readonly #draws = new Map<string, () => unknown>();
  #aliases = 0;
  readonly #fragments: { readonly name: string; readonly type: string; readonly text: string }[] = [];

  constructor(schema: GraphQLSchema, random: () => number) {
    this.#schema = schema;
    this.#random = random;
  }

  operation(): RandomOperation {
    const viewers = Array.from({ length: this.#chance(0.1) ? 2 : 1 }, (_, at) => {
      const alias = at > 0 || this.#chance(0.1) ? `v${at}: ` : '';
      return `${alias}viewer ${this.#selection('Viewer', 1)}`;
    });
    const declared = this.#variables.length === 0 ? '' : `(${this.#variables.join(' ')})`;
    const fragments = this.#fragments.map(({ name, type, text }) => `fragment ${name} on ${type} ${text}`);
    const query = [`query ${declared} { ${viewers.join(' ')} }`, ...fragments].join('\n');
    return {
      query,
      draw: () => {
        const drawn = [...this.#draws].map(([name, value]) => [name, value()] as const);
        return Object.fromEntries(drawn.filter(([, value]) => value !== undefined));
      },
    };
  }

  #selection(typeName: string, depth: number): string {
    const type = this.#schema.getType(typeName);
    const parts: string[] = [];
    const wanted = depth === 1 ? this.#whole(2, 5) : this.#whole(1, 4);
    while (parts.length < wanted) {
      if (depth < DEEPEST && this.#chance(0.13)) parts.push(this.#inline(type, depth));
      else if (depth < DEEPEST && this.#chance(0.08)) parts.push(this.#spread(type, depth));
      else if (this.#chance(0.08) || isUnionType(type))
        parts.push(isUnionType(type) && depth < DEEPEST ? this.#inline(type, depth) : '__typename');
      else if (parts.length > 0 && this.#chance(0.06)) parts.push(this.#pick(parts));
      else parts.push(this.#field(type, depth));
    }
    return `{ ${parts.join(' ')} }`;
  }

  #field(type: GraphQLNamedType | undefined, depth: number): string {
    const all = type !== undefined && 'getFields' in type ? Object.values(type.getFields()) : [];
    const open = all.filter((field) => depth < DEEPEST || !isCompositeType(getNamedType(field.type)));
    if (open.length === 0) return '__typename';
    const field = this.#pick(open) as GraphQLField<unknown, unknown>;
    const args = field.args.map((each) => this.#argument(each)).filter((text) => text !== '');
    const alias = this.#alias(args.length > 0 ? 0.7 : 0.15);
    const inner = getNamedType(field.type);
    const below = isCompositeType(inner) ? ` ${this.#selection(inner.name, depth + 1)}` : '';
    return `${alias}${field.name}${args.length === 0 ? '' : `(${args.join(' ')})`}${this.#directive()}${below}`;
  }

  /** Usually unique, because different fields with the same name make an operation invalid. */
  #alias(share: number): string {
    if (!this.#chance(share)) return '';
    this.#aliases += 1;
    const odd = this.#chance(0.2);
    return `${odd ? this.#pick(['a', 'b', 'c', 'title', 'id', '__k', 'f1', 'b0']) : `a${this.#aliases}`}: `;
  }

  #inline(type: GraphQLNamedType | undefined, depth: number): string {
    const condition = this.#condition(type);
    const named = this.#chance(0.25) ? '' : ` on ${condition}`;
    return `...${named}${this.#directive()} ${this.#selection(named === '' ? (type?.name ?? '') : condition, depth + 1)}`;
  }

  #spread(type: GraphQLNamedType | undefined, depth: number): string {
    const known = this.#fragments.filter((fragment) => fragment.type === type?.name);
    const again = known.length > 0 && this.#chance(0.5) ? this.#pick(known) : undefined;
    if (again !== undefined) return `...${again.name}${this.#directive()}`;
    const condition = this.#condition(type);
    const text = this.#selection(condition, depth + 1);
    const name = `F${this.#fragments.length}`;
    this.#fragments.push({ name, type: condition, text });
    return `...${name}${this.#directive()}`;
  }

  /** A type whose fragments can apply where this type is expected. */
  #condition(type: GraphQLNamedType | undefined): string {
    if (type === undefined || isObjectType(type)) {
      const interfaces = isObjectType(type) ? type.getInterfaces().map(({ name }) => name) : [];
      return this.#pick([type?.name ?? '', type?.name ?? '', ...interfaces]);
    }
    const possible = 'getFields' in type || isUnionType(type) ? this.#schema.getPossibleTypes(type as never) : [];
    return this.#pick([type.name, ...possible.map(({ name }) => name)]);
  }

  #directive(): string {
    if (!this.#chance(0.14)) return '';
    const name = this.#pick(['include', 'skip']);
    const pick = this.#random();
    if (pick < 0.4) return ` @${name}(if: ${this.#chance(0.5)})`;
    const sort = pick < 0.7 ? 'Boolean!' : `Boolean = ${this.#chance(0.5)}`;
    const variable = this.#declare(sort);
    this.#draws.set(variable, () => (sort === 'Boolean!' || this.#chance(0.5) ? this.#chance(0.5) : undefined));
    return ` @${name}(if: $${variable})`;
  }

  #argument(argument: GraphQLArgument): string {
    if (this.#chance(0.35)) return '';
    if (this.#chance(0.5)) return `${argument.name}: ${literal(this.#value(argument.type))}`;
    // A nullable variable with a default is allowed at a non-null position, and can still be null.
    const type = String(argument.type);
    const bare = type.replace(/!$/, '');
    const needsDefault = type !== bare;
    const hasDefault = needsDefault || this.#chance(0.4);
    const declared = hasDefault ? `${bare} = ${literal(this.#value(argument.type))}` : bare;
    const variable = this.#declare(declared);
    this.#draws.set(variable, () => {
      if (this.#chance(0.4)) return undefined;
      return needsDefault && this.#chance(0.1) ? null : plain(this.#value(argument.type));
    });
    return `${argument.name}: $${variable}`;
  }

  #value(type: GraphQLInputType): unknown {
    if (isNonNullType(type)) return this.#present(type.ofType);
    return this.#chance(0.08) ? null : this.#present(type);
  }

  #present(type: GraphQLInputType): unknown {
    if (isNonNullType(type)) return this.#present(type.ofType);
    if (isListType(type)) return Array.from({ length: this.#whole(0, 3) }, () => this.#value(type.ofType));
    if (isEnumType(type)) {
      return new Name(this.#pick(type.getValues().filter(({ name }) => name !== 'UNKNOWN')).name);
    }
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields()).filter(() => this.#chance(0.6));
      return Object.fromEntries(fields.map((field) => [field.name, this.#value(field.type)]));
    }
    if (String(type) === 'Boolean') return this.#chance(0.5);
    if (String(type) === 'DateTime') return '2026-01-01T00:00:00Z';
    if (String(type) === 'String') return Buffer.from(`{"i":${this.#whole(0, 9)}}`).toString('base64url');
    return this.#whole(0, 6);
  }

  #declare(type: string): string {
    const name = `x${this.#variables.length}`;
    this.#variables.push(`$${name}: ${type}`);
    return name;
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #whole(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1));
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T;
  }
}

/** An enum value, which a document writes without quotes. */
class Name {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

function literal(value: unknown): string {
  if (value instanceof Name) return value.name;
  if (Array.isArray(value)) return `[${value.map(literal).join(' ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([name, each]) => `${name}: ${literal(each)}`)
      .join(' ')}}`;
  }
  return JSON.stringify(value);
}

function plain(value: unknown): unknown {
  if (value instanceof Name) return value.name;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
  }
  return value;
}
