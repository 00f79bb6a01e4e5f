/** What the model says of one moment. Names are those of Alloy without their module: `Pair0`. */
export type State = Readonly<Record<string, readonly string[]>>;

export interface Step {
  readonly event: string;
  /** What it is about: a request, a connection, a gate, a member, a pair of tokens. */
  readonly about: Readonly<Partial<Record<About, string>>>;
  /** After it. */
  readonly state: State;
}

export type About = 'request' | 'connection' | 'gate' | 'whom' | 'pair';

/** What the model allows to happen, one event after the other. */
export interface Trace {
  readonly scene: string;
  /** What does not change: for each request `shows`, `at` and `gives`, for each pair `from` and `grant`, and so on. */
  readonly given: State;
  readonly start: State;
  readonly steps: readonly Step[];
}
