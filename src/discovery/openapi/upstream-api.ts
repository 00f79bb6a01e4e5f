import type { RouteConfig } from '../../config/schema.ts';
import type { Json } from './json.ts';
import type { PathTemplate } from './path-template.ts';
import type { RouteFacts } from './route-operation.ts';

/** What an upstream says of itself. */
export interface UpstreamApi {
  operationsOf(entry: RouteConfig, method: string, facts: RouteFacts): readonly ImportedOperation[];
}

interface ImportedOperation {
  readonly template: PathTemplate;
  readonly operation: Json;
  /** The schemas that it refers to. */
  readonly schemas: Readonly<Record<string, Json>>;
}
