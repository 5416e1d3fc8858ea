import { readExample } from './examples.ts';
import type { JourneyFile } from './journey-file.ts';

/** The files of `examples/journeys/`, in the order in which they are offered. */
export const journeyNames = [
  'abandoned-cart',
  'order-paid-webhook',
  'appointment-reminder',
  'lead-to-call',
  'win-back',
  'payment-failed',
  'review-request',
  'renewal-notice',
  'nightly-list-sweep',
];

export const readJourney = (name: string): JourneyFile => JSON.parse(readExample(`journeys/${name}.json`)) as JourneyFile;
