import type { AttemptStep, ConnectionAttempt } from '../../../../operations/record/attempt.ts';

/** What the gate is configured to do, as far as it explains a refusal. */
export interface GateSetting {
  readonly origin: string;
  /** Seconds. */
  readonly codeLifetime: number;
  readonly replayWindow: number;
}

/** An attempt that stopped. */
export interface Stopped extends GateSetting {
  readonly attempt: ConnectionAttempt;
  /** The step at which it stopped. */
  readonly at: AttemptStep;
}

/** Why attempts stop, in words for the operator. */
export interface Cause {
  readonly id: string;
  readonly fits: (stopped: Stopped) => boolean;
  /** One line for the list. */
  readonly title: string;
  readonly why: (stopped: Stopped) => string;
  /** What the operator can do; undefined: nothing. */
  readonly operator?: string;
  /** What the app's developer has to change; undefined: nothing. */
  readonly developer?: string | ((stopped: Stopped) => string);
  /** Below docs/, with the heading. */
  readonly docs: string;
}

/** A parameter of the step at which it stopped; '' if it was not sent. */
export const sent = ({ at }: Stopped, name: string): string => at.parameters?.[name] ?? '';

/** Whether the description that the app was sent, or the reason that only the gate knows, contains this. */
export const says = ({ at }: Stopped, text: string): boolean =>
  at.description?.includes(text) === true || at.detail?.includes(text) === true;

/** The last step of this kind. */
export const lastOfKind = ({ attempt }: Stopped, kind: AttemptStep['kind']): AttemptStep | undefined =>
  attempt.steps.findLast((step) => step.kind === kind);
