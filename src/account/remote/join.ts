import type { GraphQLField, GraphQLObjectType } from 'graphql';
import type { RemoteField } from './mapping.ts';

/** How one field of the contract is asked for upstream, and its answer read. */
export interface FieldJoin {
  readonly field: GraphQLField<unknown, unknown>;
  /** As `Event.title`. */
  readonly coordinate: string;
  /** The upstream's name. */
  readonly name: string;
  readonly arguments: readonly ArgumentJoin[];
  /** Brings one upstream value, not null, into the contract's form. An Error says that it has none. */
  readonly read: (value: unknown) => unknown;
  /** Of the objects the field gives; undefined for a leaf. */
  readonly inner: TypeJoin | undefined;
}

export interface ArgumentJoin {
  /** In the contract. */
  readonly argument: string;
  /** Upstream. */
  readonly name: string;
  /** The upstream's type, as a variable is declared. */
  readonly type: string;
  /** Brings a value of the contract's argument, which may be null, into the upstream's form. Throws AccountError. */
  readonly write: (value: unknown) => unknown;
}

/** An object type of the contract over one of an upstream. */
export interface ObjectJoin {
  readonly type: GraphQLObjectType;
  /** By the contract's name. */
  readonly fields: ReadonlyMap<string, FieldJoin>;
  /** By a field that comes from elsewhere: the fields of this object that its call needs. */
  readonly needs: ReadonlyMap<string, readonly FieldJoin[]>;
}

/** What a field can give: one type of object, or one of several, by the name the upstream has for each. */
export type TypeJoin =
  | { readonly abstract: false; readonly object: ObjectJoin }
  | { readonly abstract: true; readonly objects: ReadonlyMap<string, ObjectJoin> };

/**
 * A mapped field, ready. The failure of one that cannot be null upstream takes along what it stands beside there, so
 * such a one stands apart: under a root of its own, or, where the root cannot be null either, in a call of its own.
 */
export interface Boundary {
  readonly mapping: RemoteField;
  readonly join: FieldJoin;
  readonly writes: boolean;
  readonly root: RootJoin | undefined;
  readonly member: MemberArgument | undefined;
  readonly apart: 'no' | 'root' | 'call';
}

interface RootJoin {
  readonly name: string;
  readonly isList: boolean;
  /** Whether its failure would lose the whole answer. */
  readonly nonNull: boolean;
}

interface MemberArgument {
  readonly name: string;
  readonly type: string;
  readonly isList: boolean;
}
