/** RFC 8252 §7.3: whether a redirect URI leads to the member's own computer. */
export function isLoopback(redirectUri: string): boolean {
  const url = URL.parse(redirectUri);
  return url?.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
}
