import { type DocumentNetwork, INTERNET } from '../../../authorization-server/client-documents/network.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import { type AuditOptions, runAudit } from '../audit.ts';
import { findFacts } from '../find-facts.ts';
import type { Verdict } from '../finding.ts';
import type { Report } from '../report.ts';
import { BACKEND_CHECKS } from './checks/checks.ts';
import type { AdminAccess, Installation } from './installation.ts';
import { openInstallation } from './open-installation.ts';
import { type MemberSignIn, trySignIn } from './sign-in.ts';

export interface BackendDoctorOptions extends AuditOptions {
  readonly loaded: LoadedConfig;
  readonly admin: AdminAccess;
  /** The ID of a member, for the checks that need one. */
  readonly member?: string | undefined;
  /** Examines as a member, too, who signs in through the running gate. */
  readonly signIn?: MemberSignIn | undefined;
  readonly changedTools?: Installation['changedTools'];
  /** Where metadata documents of apps are fetched from, by default the internet. */
  readonly network?: DocumentNetwork;
}

/**
 * Examines what a configuration connects, as the gate sees it: its upstreams, the way to sign in, and how backends treat
 * assertions. Throws UsageError for an unusable selection of checks.
 */
export async function examineBackend(options: BackendDoctorOptions): Promise<Report> {
  const { loaded, admin, member, signIn, changedTools, network = INTERNET, signal = AbortSignal.any([]) } = options;
  return runAudit(options, {
    url: loaded.config.origin,
    doing: `Checking the backend of ${loaded.config.origin} from the side of the gate`,
    checks: BACKEND_CHECKS,
    async open(limits, now) {
      // A person needs longer than the checks, so their time begins afterwards.
      const tried = signIn && (await trySignIn(loaded, { ...signIn, admin, signal }));
      const installation = await openInstallation({
        loaded,
        admin,
        member,
        signIn: tried,
        changedTools,
        network,
        limits: limits(),
        now,
      });
      // One upstream that does not answer is one failure, and no check that needs it can say more.
      const review = (verdicts: readonly Verdict[], id: string): readonly Verdict[] => {
        const missed = installation.takeMissed();
        const isEcho = missed !== undefined && !id.startsWith('upstream.') && verdicts.some(isFailure);
        return isEcho ? [{ level: 'skipped', seen: `the upstream ${missed} does not answer` }] : verdicts;
      };
      return {
        // One check after the other: a sign-in page must not slow down the answers whose times are compared.
        examination: { examined: installation, find: findFacts(installation, {}), review },
        async close() {
          const leftBehind = await tried?.close();
          await installation.close();
          return leftBehind ?? [];
        },
      };
    },
  });
}

const isFailure = ({ level }: Verdict) => level === 'failure';
