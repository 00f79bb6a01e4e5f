import { type Define, withExamples, withExits } from './command.ts';
import { EXIT, EXIT_MEANINGS } from './exit-codes.ts';

export const define: Define = (command, { say, tell, interrupted }) => {
  withExits(withExamples(command, 'http://localhost:8080'), {
    [EXIT.failure]: 'a step failed',
    [EXIT.unanswered]: 'the member declined, or did not come back from the site',
    [EXIT.unavailable]: 'the site does not answer',
    [EXIT.interrupted]: EXIT_MEANINGS[EXIT.interrupted],
  })
    .argument('<url>', 'the origin of the site, such as https://school.example')
    .option('--scope <scope>', 'the scopes to ask for, separated by spaces')
    .option('--no-browser', 'print the address to open instead of opening it')
    .action(async (url: string, { scope, browser }: { scope?: string; browser: boolean }) => {
      const { connect } = await import('../tools/connect/connect.ts');
      const { openBrowser } = await import('../tools/connect/open-browser.ts');
      await connect({
        url,
        print: tell,
        result: say,
        signal: interrupted(),
        ...(scope === undefined ? {} : { scope }),
        ...(browser ? { open: openBrowser } : {}),
      });
    });
};
