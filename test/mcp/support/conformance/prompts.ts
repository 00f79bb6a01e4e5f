import { completable, inputRequired, type McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { form } from './asking-tools.ts';
import { PNG } from './media.ts';

const about = { description: 'A prompt of the suite' };
const text = (words: string) => ({ role: 'user' as const, content: { type: 'text' as const, text: words } });

/** Prompts: plain, with arguments (with completion), with a resource, with an image, and one that asks for input. */
export function registerPrompts(server: McpServer): void {
  server.registerPrompt('test_simple_prompt', about, () => ({
    messages: [text('This is a simple prompt for testing.')],
  }));
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      ...about,
      argsSchema: z.object({
        arg1: completable(z.string(), (typed) => ['paris', 'park', 'party'].filter((word) => word.startsWith(typed))),
        arg2: z.string(),
      }),
    },
    ({ arg1, arg2 }) => ({ messages: [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { ...about, argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri: uri }) => ({
      messages: [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
          },
        },
        text('Please process the embedded resource above.'),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', about, () => ({
    messages: [
      { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
      text('Please analyze the image above.'),
    ],
  }));
  server.registerPrompt('test_input_required_result_prompt', about, ({ mcpReq }) => {
    const { action, content } = (mcpReq.inputResponses?.user_context ?? {}) as {
      action?: string;
      content?: Record<string, unknown>;
    };
    if (action === 'accept' && typeof content?.context === 'string') return { messages: [text(content.context)] };
    const requestedSchema = form({ context: { type: 'string' } }, ['context']);
    const question = inputRequired.elicit({ message: 'What context should the prompt use?', requestedSchema });
    return inputRequired({ inputRequests: { user_context: question } });
  });
}
