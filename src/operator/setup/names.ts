import { PRESETS } from './init/preset-file.ts';
import { ASKING } from './snippets/gateways.ts';
import { SENDING } from './snippets/sending.ts';

/** Web servers and gateways by the name in `snippets --for`. */
export const SERVERS = [...SENDING, ...ASKING].map(({ name }) => name);
export type Server = (typeof SERVERS)[number];

/** Gateways by the name in `init --plugin`. */
export const PLUGINS = ASKING.flatMap((gateway) => ('plugin' in gateway ? [gateway.plugin] : []));
export type Plugin = (typeof PLUGINS)[number];

/** Frameworks by the name in `init --framework`: the folders of integrations with a preset, and all others. */
export const FRAMEWORKS = [...PRESETS, 'generic'];
export type Framework = string;
