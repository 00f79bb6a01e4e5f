/**
 * An object of a GraphQL upstream in the contract's form. Values are keyed by the client's response key, because they
 * depend on the client's arguments. Values needed for calls to other services are properties under their field name.
 */
export class RemoteObject {
  /** Name of the type in the contract, from which graphql-js resolves an interface or union. */
  readonly __typename: string;
  readonly #values = new Map<string, unknown>();

  constructor(typeName: string) {
    this.__typename = typeName;
  }

  set(key: string, value: unknown): void {
    this.#values.set(key, value);
  }

  /** Sets a value that a call to another service needs. */
  need(name: string, value: unknown): void {
    Object.defineProperty(this, name, { value, enumerable: true });
  }

  /** The value for a response key; an Error if the field failed. */
  get(key: string): unknown {
    return this.#values.get(key);
  }
}
