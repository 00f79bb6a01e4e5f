/** What a request was on the way of an app to a connection, in the usual order. */
export type StepKind =
  /** A protected resource, or /mcp, was requested without a token. */
  | 'challenge'
  | 'resource-metadata'
  | 'server-metadata'
  /** A metadata document or an OAuth endpoint was looked for where there is none. */
  | 'guess'
  | 'registration'
  /** The gate read the client ID metadata document of the app. */
  | 'client-document'
  | 'pushed-request'
  | 'authorization'
  | 'sign-in'
  | 'consent'
  /** The browser was sent back to the app, with a code or an error. */
  | 'code'
  | 'token'
  /** The token was presented. */
  | 'use'
  | 'refresh'
  /** A call of the app waits for its member, or what became of it. */
  | 'approval'
  | 'revocation';

/** What is known of a step. It never holds a code, token, verifier, secret, `state` or a name that was typed. */
export interface StepFacts {
  /** What happened, where success or failure does not say it: `shown`, `approved`, `signed-in` and so on. */
  readonly outcome?: string | undefined;
  /** The OAuth error and description, as sent. */
  readonly error?: string | undefined;
  readonly description?: string | undefined;
  /** Why, in the words of the code that refused it. It tells more than the app is told. */
  readonly detail?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientName?: string | undefined;
  readonly grantId?: string | undefined;
  /** The ids of the interaction: the same for all its pages, and of one page. */
  readonly interaction?: string | undefined;
  readonly page?: string | undefined;
  readonly member?: string | undefined;
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}

export interface StepNote extends StepFacts {
  readonly kind: StepKind;
}

/** `given` over `known`, leaving out what is undefined. Parameters are joined. */
export function joinedFacts<T extends StepFacts>(known: T, given: StepFacts): T {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  const parameters = given.parameters && { parameters: { ...known.parameters, ...given.parameters } };
  return { ...known, ...Object.fromEntries(entries), ...parameters };
}
