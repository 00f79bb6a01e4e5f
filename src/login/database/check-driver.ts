import type { LoadedConfig } from '../../config/load.ts';
import { requiredSecret } from '../../config/read-secrets.ts';
import { loadMysql, loadPg, MissingDriver } from '../../storage/sql/drivers.ts';

/**
 * Checks at start that the driver for the members' database is installed. Does not connect.
 *
 * @throws {ConfigError} that names the package to install
 */
export async function checkInstalled({ secrets, mistaken }: LoadedConfig): Promise<void> {
  const url = requiredSecret(secrets, 'login.url');
  if (url.startsWith('sqlite:')) return;
  try {
    if (url.startsWith('postgres')) await loadPg();
    else await loadMysql();
  } catch (thrown) {
    if (!(thrown instanceof MissingDriver)) throw thrown;
    throw mistaken([{ path: ['login', 'url'], at: 'value', message: thrown.message }]);
  }
}
