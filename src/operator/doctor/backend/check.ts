import type { LoginConfig } from '../../../login/kinds.ts';
import { type Check, type CheckTable, checksOf } from '../check.ts';
import type { Installation } from './installation.ts';

/** Checks of the backend ask for facts as they need them. */
export type BackendCheck = Check<Installation, object>;

/** Checks that have a meaning for the same configurations. */
export function backendChecks(
  when: (config: Installation['config'], installation: Installation) => boolean,
  table: CheckTable<Installation>,
): readonly BackendCheck[] {
  return checksOf<Installation, object>()([], table, (one) => when(one.config, one));
}

/** An installation whose members sign in in this way. */
export type InstallationWith<Kind extends LoginConfig['kind']> = Installation & {
  readonly config: { readonly login: Extract<LoginConfig, { readonly kind: Kind }> };
};

/** Checks of one way to sign in. */
export function loginChecks<Kind extends LoginConfig['kind']>(
  kind: Kind,
  table: CheckTable<InstallationWith<Kind>>,
): readonly BackendCheck[] {
  return backendChecks(({ login }) => login.kind === kind, table as CheckTable<Installation>);
}
