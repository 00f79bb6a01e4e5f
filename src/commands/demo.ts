import { programName } from '../operator/program-name.ts';
import type { Define } from './command.ts';
import { untilSignal } from './lifetime.ts';

export const define: Define = (command, { tell, say, environment }) => {
  command.action(async () => {
    const { startDemo } = await import('../operator/demo/demo.ts');
    const demo = await startDemo({ environment, clock: Date.now });
    untilSignal(() => demo.close(), tell);
    tell('');
    tell(`  The school           ${demo.origin}            (behind the gate; directly at ${demo.urls.school})`);
    tell(`  A third-party app    ${demo.urls.client}            (press Connect)`);
    tell(`  The console          ${demo.urls.console}    (secret: ${demo.adminSecret})`);
    tell(
      '  Members              student@example.com / student, other@example.com / other, teacher@example.com / teacher',
    );
    tell(`  On the command line  ${programName()} connect ${demo.origin}`);
    tell('');
    say(`coursegate ready ${demo.origin} profile=${demo.profile}`);
  });
};
