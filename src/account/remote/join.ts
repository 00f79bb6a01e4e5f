import type { GraphQLObjectType } from 'graphql';
import type { RemoteField } from '../connect/mapping.ts';
import type { ContractField } from '../contract-fields.ts';

/** How to request one field of the contract upstream and read its value. */
export interface FieldJoin {
  readonly field: ContractField;
  /** Such as `Event.title`. */
  readonly coordinate: string;
  /** Name at the upstream. */
  readonly name: string;
  readonly arguments: readonly ArgumentJoin[];
  /** Converts an upstream value that is not null to the contract's form. Returns an Error if it has none. */
  readonly read: (value: unknown) => unknown;
  /** The join of the objects that the field returns; undefined for a leaf. */
  readonly inner: TypeJoin | undefined;
}

export interface ArgumentJoin {
  /** Name in the contract. */
  readonly argument: string;
  /** Name at the upstream. */
  readonly name: string;
  /** The upstream's type, for the declaration of a variable. */
  readonly type: string;
  /**
   * Converts a value of the contract's argument, which may be null, to the upstream's form.
   *
   * @throws {AccountError}
   */
  readonly write: (value: unknown) => unknown;
}

/** An object type of the contract joined to one of an upstream. */
export interface ObjectJoin {
  readonly type: GraphQLObjectType;
  /** Keyed by the name in the contract. */
  readonly fields: ReadonlyMap<string, FieldJoin>;
  /** For each field that comes from another service: the fields of this object that its call needs. */
  readonly needs: ReadonlyMap<string, readonly FieldJoin[]>;
}

/** What a field can return: one object type, or one of several if it is abstract, keyed by their names at the upstream. */
export interface TypeJoin {
  readonly abstract: boolean;
  readonly objects: ReadonlyMap<string, ObjectJoin>;
}

/**
 * A mapped field, ready to use. If a field that is non-null upstream fails, its siblings are lost too. Such a field is
 * therefore requested under a separate root, or, if the root is non-null as well, in a separate call.
 */
export interface RemoteEntry {
  readonly mapping: RemoteField;
  readonly join: FieldJoin;
  readonly writes: boolean;
  readonly root: RootJoin | undefined;
  readonly member: MemberArgument | undefined;
  readonly requestedIn: 'shared root' | 'own root' | 'own call';
}

interface RootJoin {
  readonly name: string;
  readonly isList: boolean;
  /** Whether its failure makes the whole response null. */
  readonly nonNull: boolean;
}

interface MemberArgument {
  readonly name: string;
  readonly type: string;
  readonly isList: boolean;
}
