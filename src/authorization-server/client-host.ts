import { isLoopback } from './rules/loopback.ts';

/**
 * The host of an app's redirect URI; `localhost` or the scheme for an app on the member's own device.
 * Distinguishes apps that are registered again for each of their members.
 */
export function clientHost(uri: string | undefined): string | undefined {
  const url = uri === undefined ? null : URL.parse(uri);
  if (uri === undefined || url === null) return undefined;
  if (isLoopback(uri)) return 'localhost';
  return url.protocol === 'https:' ? url.host : url.protocol.slice(0, -1);
}
