import type { TemplateView } from '../../../http/template.ts';
import type { PluginPlan } from './plugin-plan.ts';

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
  /** Its files, as templates in `integrations/gateways`. */
  readonly templates: readonly string[];
  /** Writes a value within their quotes. */
  readonly quoted?: (text: string) => string;
  /** Whether they are for all schools, because the program has one configuration. By default, each school has its own. */
  readonly joined?: true;
  /** What they are filled in with. Throws Error, worded for the operator, if it cannot ask because of the configuration. */
  readonly view: (plan: PluginPlan) => TemplateView;
  /** What the operator has to know besides. */
  readonly notes?: (plan: PluginPlan) => readonly string[];
}
