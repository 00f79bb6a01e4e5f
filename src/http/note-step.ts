import type { StepFacts, StepKind } from './connection-step.ts';
import { currentRequest } from './current-request.ts';

/** Notes a step of the current request, or adds to the one of this kind. Later facts replace earlier ones. */
export function noteStep(kind: StepKind, facts: StepFacts = {}): void {
  currentRequest()?.inFlight?.record?.noteStep(kind, facts);
}

/** Adds to the first step of the current request, whatever it is. */
export function explainStep(facts: StepFacts): void {
  currentRequest()?.inFlight?.record?.explainStep(facts);
}
