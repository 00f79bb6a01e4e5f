/** On https a browser takes such a cookie from nobody but the very host it is for (RFC 6265bis §4.1.3.2). */
export const HOST_PREFIX = '__Host-';

/** Whether a cookie is one of ours, signature cookies included. */
export function isOwnCookie(name: string): boolean {
  return name.startsWith('coursegate_') || name.startsWith(`${HOST_PREFIX}coursegate_`);
}
