/**
 * Whether a configured domain matches a host: `example.com` matches only itself, `*.example.com` only its subdomains.
 */
export function coversHost(domain: string, host: string): boolean {
  return domain.startsWith('*.') ? host.endsWith(domain.slice(1)) : host === domain;
}
