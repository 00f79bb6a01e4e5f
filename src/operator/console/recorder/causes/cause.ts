import type { StepKind } from '../../../../http/connection-step.ts';
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

/** Values for the placeholders of a text. */
export type TextValues = Readonly<Record<string, string | number | undefined>>;

/**
 * Why attempts stop: what is true of the step at which they did. A cause fits if all of its members do. What people
 * read of it is in the YAML file beside its table, by its id.
 */
export interface Cause {
  readonly id: string;
  /** One of these. */
  readonly kind?: StepKind | readonly StepKind[];
  readonly error?: string | readonly string[];
  readonly outcome?: string;
  /** One of these is in the description that the app was sent, or in the reason that only the gate knows. */
  readonly says?: string | readonly string[];
  /** A parameter that was not sent. */
  readonly lacks?: string;
  /** What else is true of the attempt. */
  readonly fits?: (stopped: Stopped) => boolean;
  /** Values that only the texts of this cause have, or that they have instead of the usual ones. */
  readonly values?: (stopped: Stopped) => TextValues;
}

/** A parameter of the step at which it stopped; '' if it was not sent. */
export const sent = ({ at }: Stopped, name: string): string => at.parameters?.[name] ?? '';

/** Whether the description that the app was sent, or the reason that only the gate knows, contains this. */
export const says = ({ at }: Stopped, text: string): boolean =>
  at.description?.includes(text) === true || at.detail?.includes(text) === true;

/** The last step of this kind. */
export const lastOfKind = ({ attempt }: Stopped, kind: AttemptStep['kind']): AttemptStep | undefined =>
  attempt.steps.findLast((step) => step.kind === kind);
