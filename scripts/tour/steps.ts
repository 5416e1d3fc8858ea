import type { TourStep } from './step.ts';
import { addWebhook } from './steps/add-webhook.ts';
import { askHandbook } from './steps/ask-handbook.ts';
import { followCampaign } from './steps/follow-campaign.ts';
import { followRuns } from './steps/follow-runs.ts';
import { importContacts } from './steps/import-contacts.ts';
import { makeCampaign } from './steps/make-campaign.ts';
import { makeJourney } from './steps/make-journey.ts';
import { offerJourneys } from './steps/offer-journeys.ts';
import { sendEvents } from './steps/send-events.ts';
import { sendWebhook } from './steps/send-webhook.ts';
import { showCalls } from './steps/show-calls.ts';
import { showOutcome } from './steps/show-outcome.ts';
import { testAgent } from './steps/test-agent.ts';
import { uploadHandbook } from './steps/upload-handbook.ts';

/** The tour, in order. A new step is a file in `steps/` and a line here. */
export const steps: TourStep[] = [
  importContacts,
  makeJourney,
  addWebhook,
  sendEvents,
  sendWebhook,
  followRuns,
  showOutcome,
  makeCampaign,
  followCampaign,
  showCalls,
  uploadHandbook,
  askHandbook,
  testAgent,
  offerJourneys,
];
