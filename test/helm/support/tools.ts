import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { missing } from '../../support/missing.ts';

const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
const folder = process.env.COURSEGATE_CHART_TOOLS ?? join(cache, 'coursegate-chart-tools');

/** The tools that tools.sh builds. */
export const TOOLS = {
  helm: join(folder, 'bin/helm'),
  kubeconform: join(folder, 'bin/kubeconform'),
  admission: join(folder, 'bin/admission'),
  schemas: join(folder, 'schemas'),
} as const;

/**
 * Whether the tests of the chart run. Without their tools, they are skipped by name, with instructions. In CI they fail
 * instead, since a green run must mean that they ran.
 */
export function toolsPresent(): boolean {
  if (existsSync(join(folder, 'made'))) return true;
  return missing(
    `no helm found in ${folder}: the tests of the chart need it (bash test/helm/tools.sh, which needs Go)`,
  );
}
