/** Whether a domain of a configured list covers a host: `example.com` is that host, `*.example.com` what is under it. */
export function coversHost(domain: string, host: string): boolean {
  return domain.startsWith('*.') ? host.endsWith(domain.slice(1)) : host === domain;
}
