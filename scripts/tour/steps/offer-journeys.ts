import { toSummary } from '../journey-file.ts';
import { journeyNames, readJourney } from '../journeys.ts';
import type { TourStep } from '../step.ts';

export const offerJourneys: TourStep = {
  title: 'Journeys to begin with, in examples/journeys',
  operation: 'POST /automation-workflows/{workflow_id}/test',
  async run({ say }) {
    const width = Math.max(...journeyNames.map((name) => name.length));
    for (const name of journeyNames) say(`${name.padEnd(width)}  ${toSummary(readJourney(name))}`);
    say('Try one, and see when it would do what: npm run tour -- --journey abandoned-cart');
    say('Try all of them:                        npm run tour -- --journey all');
  },
};
