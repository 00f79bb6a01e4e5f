import type { LoadedConfig } from '../config/load.ts';
import type { AccountOptions } from './account-options.ts';
import { loadTypeMerger } from './contract.ts';
import { type Account, createAccount } from './endpoint.ts';

/**
 * Creates the configured Account API; undefined when there is none.
 *
 * @throws {MappingError} with every mistake in its files
 */
export async function configuredAccount(
  loaded: Pick<LoadedConfig, 'config' | 'accountFiles' | 'accountConfig' | 'written'>,
  parts: Pick<AccountOptions, 'call' | 'metadataUrl' | 'onError'>,
): Promise<Account | undefined> {
  const { config, accountFiles, accountConfig, written } = loaded;
  if (config.account === undefined || accountFiles === undefined) return undefined;
  const { documents } = accountFiles;
  return createAccount({
    ...parts,
    ...config.account,
    ...accountFiles,
    merge: await loadTypeMerger(accountFiles.schema),
    // Undefined if it is not written, even though the pages use UTC.
    timeZone: written.tree.timeZone === undefined ? undefined : config.timeZone,
    upstreams: Object.keys(config.upstreams),
    keyed: Object.keys(config.upstreams).filter((name) => config.upstreams[name]?.credential?.kind === 'key'),
    config: accountConfig,
    scopes: Object.keys(config.scopes),
    documents: documents && { file: documents, only: config.account.documents?.only === true },
  });
}
