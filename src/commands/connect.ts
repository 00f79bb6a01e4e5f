import type { Define } from './command.ts';

const COLOURS: Readonly<Record<string, number>> = { '✓': 32, '✗': 31, '–': 90 };

export const define: Define = (command, terminal) => {
  command.action(async (url: string, { scope, browser }: { scope?: string; browser: boolean }) => {
    const { connect } = await import('../operator/connect/connect.ts');
    const { openBrowser } = await import('../operator/connect/open-browser.ts');
    const { waitFor } = await import('./progress.ts');
    const { say, tell, paintMessage, interrupted } = terminal;
    await connect({
      url,
      print: (line) => tell(line.replace(/^[✓✗–]/, (mark) => paintMessage(COLOURS[mark] ?? 0, mark))),
      wait: (what) => waitFor(terminal, what),
      result: say,
      signal: interrupted(),
      scope,
      open: browser ? openBrowser : undefined,
    });
  });
};
