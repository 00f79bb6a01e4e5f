import { type GetPromptResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { McpConfig } from '../config/schema.ts';
import { fillPlaceholders } from './argument-template.ts';

const LONGEST_ARGUMENT = 1000;

/** Fills in a prompt. Arguments are inserted verbatim and not expanded again. Throws ProtocolError -32602. */
export function fillPrompt(
  prompts: McpConfig['prompts'],
  request: { readonly name: string; readonly arguments?: Readonly<Record<string, string>> | undefined },
): GetPromptResult {
  const prompt = prompts.find(({ name }) => name === request.name);
  if (prompt === undefined) throw refused('No prompt has this name.');
  const given = request.arguments ?? {};
  for (const { name, required } of prompt.arguments) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (required && (value === undefined || value.trim() === '')) throw refused(`The argument "${name}" is missing.`);
    if (value !== undefined && value.length > LONGEST_ARGUMENT) throw refused(`The argument "${name}" is too long.`);
  }
  const text = fillPlaceholders(prompt.text, (name) => (Object.hasOwn(given, name) ? given[name] : '') ?? '');
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text } }],
  };
}

function refused(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
