import { typedUrl } from '../connect/oauth/transport.ts';
import { UsageError } from '../usage-error.ts';

/** The address as typed. Throws UsageError if it is unusable, or contains credentials. */
export function addressOf(typed: string): { origin: string; path: string } {
  const url = typedUrl(typed);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(`"${typed}" is not a web address. Give one such as https://school.example/mcp.`);
  if (url.username !== '' || url.password !== '') throw new UsageError('Give the address without a name and password.');
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') };
}
