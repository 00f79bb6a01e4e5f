/** On https, a browser accepts such a cookie only from the exact host that it is for (RFC 6265bis section 4.1.3.2). */
export const HOST_PREFIX = '__Host-';

/** Whether a cookie is one of the gate's own, including signature cookies. */
export function isOwnCookie(name: string): boolean {
  return name.startsWith('coursegate_') || name.startsWith(`${HOST_PREFIX}coursegate_`);
}
