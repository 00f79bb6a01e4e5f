import type { ConsoleRoute } from '../console-route.ts';
import { type EventRoutesOptions, eventRoutes } from './events.ts';
import { type KeysOptions, keyRoutes } from './keys.ts';
import { type ObserveOptions, observeRoutes } from './observe.ts';

export interface OperateOptions extends KeysOptions, EventRoutesOptions, ObserveOptions {}

/** The pages and actions for signing keys, events and observe mode. */
export function operateRoutes(options: OperateOptions): readonly ConsoleRoute[] {
  return [...keyRoutes(options), ...eventRoutes(options), ...observeRoutes(options)];
}
