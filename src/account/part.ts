import type { LoadedConfig } from '../config/load.ts';
import { ConfigError, type Problem } from '../config/problems.ts';
import type { Handler } from '../http/exchange.ts';
import type { RolesOf } from '../oauth/member-roles.ts';
import { protectedResource } from '../oauth/protected-resource.ts';
import type { Audit } from '../operations/audit.ts';
import type { Log } from '../operations/log.ts';
import type { CallForPrincipal } from '../upstream/request.ts';
import { MappingError, type Mistake } from './connect/mistakes.ts';
import { loadTypeMerger } from './contract.ts';
import { type Account, accountHandler, createAccount } from './endpoint.ts';

/** The Account API. */
export interface AccountPart extends Omit<Account, 'warnings'> {
  readonly handler: Handler;
  /** What in its files is allowed but most likely unintended. */
  readonly warnings: readonly Problem[];
}

interface AccountUses {
  readonly call: CallForPrincipal;
  readonly rolesOf: RolesOf;
  readonly audit: Audit;
}

/** Undefined if it is not configured. Rejects with ConfigError, which lists every mistake in its files. */
export async function openAccount(
  { log }: { readonly log: Pick<Log, 'error'> },
  { config, accountFiles, accountConfig, written }: LoadedConfig,
  { call, rolesOf, audit }: AccountUses,
): Promise<AccountPart | undefined> {
  if (config.account === undefined || accountFiles === undefined) return undefined;
  const { documents } = accountFiles;
  const upstreams = Object.keys(config.upstreams);
  try {
    const { warnings, ...account } = createAccount({
      ...config.account,
      ...accountFiles,
      call,
      rolesOf: config.roles && rolesOf,
      merge: await loadTypeMerger(accountFiles.schema),
      metadataUrl: protectedResource(config.origin, '').metadataUrl,
      // Undefined if it is not written, even though the pages use UTC.
      timeZone: written.tree.timeZone === undefined ? undefined : config.timeZone,
      upstreams,
      keyed: upstreams.filter((name) => config.upstreams[name]?.credential?.kind === 'key'),
      config: accountConfig,
      scopes: Object.keys(config.scopes),
      documents: documents && { file: documents, only: config.account.documents?.only === true },
      onError: (err, where) => log.error({ err }, `the Account API failed${where === undefined ? '' : ` at ${where}`}`),
    });
    return {
      ...account,
      handler: accountHandler(account.endpoint, audit),
      warnings: warnings.map(asProblem),
    };
  } catch (thrown) {
    throw thrown instanceof MappingError ? new ConfigError(thrown.mistakes.map(asProblem)) : thrown;
  }
}

function asProblem({ coordinate, ...mistake }: Mistake): Problem {
  return { ...mistake, path: coordinate };
}
