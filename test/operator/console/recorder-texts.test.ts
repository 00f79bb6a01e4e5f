import { expect, it } from 'vitest';
import type { StepKind } from '../../../src/http/connection-step.ts';
import type { AttemptStep } from '../../../src/operations/record/attempt.ts';
import { CAUSES, UNKNOWN } from '../../../src/operator/console/recorder/causes/causes.ts';
import { causeTexts, explanationBy } from '../../../src/operator/console/recorder/causes/explanation.ts';
import { readTexts } from '../../../src/operator/texts.ts';

const ALL = [...CAUSES, UNKNOWN];
const AT: AttemptStep = {
  ...{ kind: 'token', at: 0, since: 0, took: 1, times: 1, status: 400, userAgent: 'app/1', network: '192.0.2.0' },
  ...{ endpoint: 'POST /api/oauth/token', clientId: 'an-app', error: 'invalid_{origin}', description: 'a {status}' },
};
const STOPPED = { origin: 'https://school.example', codeLifetime: 60, replayWindow: 30 };

it('every cause has texts, and every text a cause', () => {
  expect([...causeTexts().keys()].toSorted()).toEqual(ALL.map(({ id }) => id).toSorted());
  for (const [id, { title, docs }] of causeTexts()) {
    expect(title, id).toMatch(/^[A-Z].{10,}[^.]$/);
    expect(docs, id).toMatch(/^docs\/[a-z-]+\.md(?:#[a-z0-9-]+)?$/);
  }
});

const KINDS: Readonly<Record<StepKind, true>> = {
  ...{ challenge: true, 'resource-metadata': true, 'server-metadata': true, guess: true, registration: true },
  ...{ 'client-document': true, 'pushed-request': true, authorization: true, 'sign-in': true, consent: true },
  ...{ code: true, token: true, use: true, refresh: true, approval: true, revocation: true },
};

it('every kind of step has words, and all words a kind', () => {
  const words = readTexts(['operator/console/recorder/steps.yaml'], ['text']);
  expect([...words.keys()].toSorted()).toEqual(Object.keys(KINDS).toSorted());
});

it.each(ALL)('the placeholders in the texts of $id are known', (cause) => {
  const { why, operator, developer } = explanationBy(cause, {
    ...STOPPED,
    attempt: { id: '1', steps: [AT], left: 0 },
    at: AT,
  });
  for (const text of [why, operator ?? 'One.', developer ?? 'One.']) expect(text).toMatch(/^[A-Z].*\. ?$/);
  const all = [why, operator ?? '', developer ?? ''].join(' ');
  expect(all.replaceAll('a {status}', '').replaceAll('invalid_{origin}', '')).not.toMatch(/\{\w+\}|undefined/);
});

it('a value is not read for placeholders', () => {
  const unknown = explanationBy(UNKNOWN, { ...STOPPED, attempt: { id: '1', steps: [AT], left: 0 }, at: AT });
  expect(unknown.why).toBe(
    'The console does not know this pattern. The last answer was 400 invalid_{origin}: a {status} to POST /api/oauth/token.',
  );
});
