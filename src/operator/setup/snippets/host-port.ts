/** As it is written in a URL. */
export function hostPort({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** @param text host:port, with brackets around an IPv6 address */
export function hostAndPort(text: string): { readonly host: string; readonly port: number } {
  const [, host = '', port = ''] = /^\[?(.+?)\]?:(\d+)$/.exec(text) ?? [];
  return { host, port: Number(port) };
}
