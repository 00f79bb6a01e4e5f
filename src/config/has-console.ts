import type { LoadedConfig } from './load.ts';

/** Whether operators can open the console: they sign in with what authenticates commands. */
export function hasConsole({ admin }: LoadedConfig): boolean {
  return admin.hmac.length > 0 || admin.mtls !== undefined;
}
