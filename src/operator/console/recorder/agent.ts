import { once } from '../../../http/once.ts';
import { type ConnectionAttempt, isOfApp } from '../../../operations/record/attempt.ts';
import { readTexts } from '../../texts.ts';

const agents = once(() => readTexts(['operator/console/recorder/agents.yaml'], ['kind', 'marks']));
/** What `coursegate doctor` calls itself. */
const DOCTOR = 'coursegate-doctor/';

/** What sent a request, in a few words: `Chrome on Linux`, `python-httpx`. Undefined if it does not say. */
export function agentName(userAgent: string): string | undefined {
  const robot = /\bcompatible; ([\w.-]{1,40})/.exec(userAgent)?.[1];
  if (robot !== undefined || !userAgent.startsWith('Mozilla/')) return robot ?? /^[\w.@-]{1,40}/.exec(userAgent)?.[0];
  const [browser, system] = ['browser', 'system'].map((kind) => firstOf(kind, userAgent));
  return system === undefined ? browser : `${browser ?? 'a browser'} on ${system}`;
}

function firstOf(kind: string, userAgent: string): string | undefined {
  const marked = ([, agent]: readonly [string, { readonly kind: string; readonly marks: string }]) =>
    agent.kind === kind && agent.marks.split(' ').some((mark) => userAgent.includes(mark));
  return [...agents()].find(marked)?.[0];
}

/** Whether the app is `coursegate doctor`, which tries what should fail. */
export function isOfDoctor({ steps }: ConnectionAttempt): boolean {
  const own = steps.filter(isOfApp);
  return (own.length > 0 ? own : steps).every(({ userAgent }) => userAgent.startsWith(DOCTOR));
}
