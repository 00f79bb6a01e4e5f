import type { LoadedConfig } from '../config/load.ts';
import { type Account, type AccountOptions, createAccount } from './endpoint.ts';

/**
 * Creates the configured Account API; undefined when there is none.
 *
 * @throws {MappingError} with every mistake in its files
 */
export function configuredAccount(
  { config, accountFiles, accountConfig }: Pick<LoadedConfig, 'config' | 'accountFiles' | 'accountConfig'>,
  parts: Pick<AccountOptions, 'call' | 'metadataUrl' | 'onError'>,
): Account | undefined {
  if (config.account === undefined || accountFiles === undefined) return undefined;
  const { limits, introspection, bodyLimit, deadline, documents } = config.account;
  return createAccount({
    ...parts,
    schema: accountFiles.schema,
    mappings: accountFiles.mappings,
    recorded: accountFiles.recorded,
    upstreams: Object.keys(config.upstreams),
    keyed: Object.keys(config.upstreams).filter((name) => config.upstreams[name]?.credential?.kind === 'key'),
    config: accountConfig,
    scopes: Object.keys(config.scopes),
    limits,
    introspection,
    bodyLimit,
    deadline,
    documents:
      accountFiles.documents === undefined
        ? undefined
        : { file: accountFiles.documents, only: documents?.only === true },
  });
}
