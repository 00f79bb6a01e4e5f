/** Whether a cookie is one of ours, signature cookies included. */
export function isOwnCookie(name: string): boolean {
  return name.startsWith('coursegate_');
}
