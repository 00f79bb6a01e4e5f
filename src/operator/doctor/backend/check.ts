import { type Check, type CheckTable, checkList } from '../check.ts';
import type { Installation } from './installation.ts';

/** Checks of the backend ask for facts as they need them. */
export type BackendCheck = Check<Installation, object>;

/** Checks that have a meaning for the same configurations. */
export function backendChecks(
  when: (config: Installation['config'], installation: Installation) => boolean,
  table: CheckTable<Installation>,
): readonly BackendCheck[] {
  return checkList<Installation, object, never>({ when: (one) => when(one.config, one) }, table);
}
