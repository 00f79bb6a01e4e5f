import { type DocumentNetwork, INTERNET } from '../../../authorization-server/client-documents/network.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import { type CheckChoice, chosen, DEFAULT_TIMEOUT, type DoctorOptions, PATIENCE, type Report } from '../doctor.ts';
import { verdictsOf } from '../examine.ts';
import { type Finding, finding, type Verdict } from '../finding.ts';
import { BACKEND_CHECKS } from './checks/checks.ts';
import { MEMBER } from './checks/member.ts';
import type { AdminAccess } from './installation.ts';
import { openInstallation } from './open-installation.ts';
import { type MemberSignIn, visitGate } from './visit.ts';

type Shared = 'timeout' | 'signal' | 'patience' | 'now' | 'begin' | 'progress';

export interface BackendDoctorOptions extends Pick<DoctorOptions, Shared>, CheckChoice {
  readonly loaded: LoadedConfig;
  readonly admin: AdminAccess;
  /** The ID of a member, for the checks that need one. */
  readonly member?: string | undefined;
  /** Examines as a member, too, who signs in through the running gate. */
  readonly signIn?: MemberSignIn | undefined;
  /** Where metadata documents of apps are fetched from, by default the internet. */
  readonly network?: DocumentNetwork;
}

const isFailure = ({ level }: Verdict) => level === 'failure';

/**
 * Examines what a configuration connects, as the gate sees it: its upstreams, the way to sign in, and how backends treat
 * assertions. Throws UsageError for an unusable selection of checks.
 */
export async function examineBackend(options: BackendDoctorOptions): Promise<Report> {
  const { loaded, admin, member, signIn, network = INTERNET } = options;
  const checks = chosen(BACKEND_CHECKS, options).filter(
    (one) => one.applies(loaded.config) && (signIn !== undefined || !MEMBER.includes(one)),
  );
  const now = options.now ?? Date.now;
  const begun = now();
  const { origin } = loaded.config;
  options.begin?.(origin);
  const stop = options.signal ?? AbortSignal.any([]);
  // A person needs longer than the checks, so their time begins afterwards.
  const visit = signIn && (await visitGate(loaded, { ...signIn, admin, signal: stop }));
  const late = AbortSignal.timeout((options.timeout ?? DEFAULT_TIMEOUT) * 1000);
  const signal = AbortSignal.any([late, stop]);
  const installation = await openInstallation({
    loaded,
    admin,
    member,
    visit,
    network,
    limits: { signal, patience: options.patience ?? PATIENCE },
    now,
  });
  try {
    const findings: Finding[] = [];
    // One after the other: a sign-in page must not slow down the answers whose times are compared.
    for (const one of checks) {
      const verdicts = await verdictsOf(() => one.run(installation));
      const missed = installation.takeMissed();
      // One upstream that does not answer is one failure, and no check that needs it can say more.
      const isEcho = missed !== undefined && !one.id.startsWith('upstream.') && verdicts.some(isFailure);
      const shown = isEcho ? [{ level: 'skipped', seen: `the upstream ${missed} does not answer` } as const] : verdicts;
      findings.push(...shown.map((verdict) => finding(one, verdict)));
      options.progress?.(checks.indexOf(one) + 1, checks.length);
    }
    return {
      url: origin,
      startedAt: new Date(begun),
      seconds: Math.round((now() - begun) / 100) / 10,
      complete: !signal.aborted,
      findings,
      leftBehind: (await visit?.close()) ?? [],
    };
  } finally {
    await visit?.close();
    await installation.close();
  }
}
