import type { PluginPlan, SnippetFile } from './plugin-plan.ts';

export interface WebServer {
  /** The name in `snippets --for`. */
  readonly name: string;
  /** As operators know it. */
  readonly title: string;
}

/** A gateway that asks the gate about requests, and forwards them itself. */
export interface AskingGateway extends WebServer {
  /** The name in `init --plugin`, for a gateway that can be set up on the machine of the gate. */
  readonly plugin?: string;
  /** Whether it can ask over a Unix socket. */
  readonly unixSockets: boolean;
  /**
   * Writes its files: some for each school, or all in one where a program has one file. Throws Error, worded for the
   * operator, if it cannot ask because of the configuration.
   */
  readonly files: (...plans: readonly PluginPlan[]) => readonly SnippetFile[];
  /** What the operator has to know besides. */
  readonly notes?: (plan: PluginPlan) => readonly string[];
}
