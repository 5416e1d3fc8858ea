import { connect } from './tour/connect.ts';
import { runProgram } from './local/run-program.ts';
import { LocalError, readLocalSettings } from './local/settings.ts';
import { steps } from './tour/steps.ts';

/** Does the service's main job in front of the user, step by step. Ends with code 1 and the reason when something did not happen. */
await runProgram(async () => {
  const startedAt = Date.now();
  const tour = await connect(readLocalSettings(process.env));
  try {
    for (const [index, step] of steps.entries()) {
      tour.terminal.line(`\n${index + 1}. ${step.title}`);
      tour.terminal.line(`   ${tour.docsLink(step.operation)}`);
      await step.run(tour).catch((error: unknown) => {
        if (!(error instanceof LocalError)) throw error;
        throw new LocalError(`\nStep ${index + 1} of ${steps.length} (${step.title}) failed: ${error.message}`);
      });
    }
  } finally {
    tour.terminal.end();
  }
  tour.terminal.line(
    `\nAll ${steps.length} steps worked, in ${((Date.now() - startedAt) / 1000).toFixed(1)} s. Run it again and see what is new then.`,
  );
  tour.terminal.line(`The addresses under /api/v1 work with: curl -s -H 'X-API-Key: ${tour.apiKey}' ADDRESS`);
});
