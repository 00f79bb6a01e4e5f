/** A tool was given something it cannot use: an address, an option, or two options that exclude each other. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
