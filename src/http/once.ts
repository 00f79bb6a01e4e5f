/**
 * Makes a value with the first call, and gives it to every later call. A promise is given as it is, so a failure is kept,
 * too: later calls get the same one. With `forgetFailure`, the next call after a failure tries again.
 */
export function once<T>(make: () => T, { forgetFailure = false }: { readonly forgetFailure?: boolean } = {}): () => T {
  let made: { readonly value: T } | undefined;
  const forget = () => {
    made = undefined;
  };
  return () => {
    if (made === undefined) {
      made = { value: make() };
      if (forgetFailure) Promise.resolve(made.value).catch(forget);
    }
    return made.value;
  };
}
