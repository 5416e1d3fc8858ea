import { runProgram } from './local/run-program.ts';
import { LocalError, readLocalSettings } from './local/settings.ts';
import { readTourArguments, usage } from './tour/arguments.ts';
import { connect } from './tour/connect.ts';
import { steps } from './tour/steps.ts';
import { tryJourney } from './tour/steps/try-journey.ts';

/** Shows the service's main features step by step. Ends with code 1 and the reason when a step fails. */
await runProgram(async () => {
  const { isHelp, journeys } = readTourArguments(process.argv.slice(2));
  if (isHelp) return console.log(usage);
  const chosen = journeys.length > 0 ? journeys.map(tryJourney) : steps;
  const startedAt = Date.now();
  const tour = await connect(readLocalSettings(process.env));
  try {
    for (const [index, step] of chosen.entries()) {
      tour.terminal.line(`\n${index + 1}. ${step.title}`);
      tour.terminal.line(`   ${tour.docsLink(step.operation)}`);
      await step.run(tour).catch((error: unknown) => {
        if (!(error instanceof LocalError)) throw error;
        throw new LocalError(`\nStep ${index + 1} of ${chosen.length} (${step.title}) failed: ${error.message}`);
      });
    }
  } finally {
    tour.terminal.end();
  }
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  tour.terminal.line(`\n${journeys.length > 0 ? journeysTried(seconds) : stepsWorked(seconds)}`);
  tour.terminal.line(`The addresses under /api/v1 work with: curl -s -H 'X-API-Key: ${tour.apiKey}' ADDRESS`);
});

function stepsWorked(seconds: string): string {
  return `All ${steps.length} steps worked, in ${seconds} s. Run it again and see what is new then.`;
}

function journeysTried(seconds: string): string {
  return `Tried in ${seconds} s, as drafts; only simulated people were called. To use one, put your own addresses into its requests and PATCH it to { "status": "active" }.`;
}
