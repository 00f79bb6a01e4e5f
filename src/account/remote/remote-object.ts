/**
 * An object of a GraphQL upstream, in the contract's form. Its values are found by the client's name for a field, for
 * the client's arguments are already in them; what calls to other services need of it is there under the field's own.
 */
export class RemoteObject {
  /** The contract's type, for graphql-js where there are several. */
  readonly __typename: string;
  readonly #values = new Map<string, unknown>();

  constructor(typeName: string) {
    this.__typename = typeName;
  }

  set(key: string, value: unknown): void {
    this.#values.set(key, value);
  }

  /** Says a value that a call to another service needs. */
  need(name: string, value: unknown): void {
    Object.defineProperty(this, name, { value, enumerable: true });
  }

  /** An Error where the field failed. */
  get(key: string): unknown {
    return this.#values.get(key);
  }
}
