import abandonedCartAgent from '../../examples/agents/abandoned-cart.json';
import appointmentAgent from '../../examples/agents/appointment-reminder.json';
import newLeadAgent from '../../examples/agents/new-lead.json';
import paymentAgent from '../../examples/agents/payment-failed.json';
import renewalAgent from '../../examples/agents/renewal-notice.json';
import winBackAgent from '../../examples/agents/win-back.json';
import abandonedCart from '../../examples/journeys/abandoned-cart.json';
import appointmentReminder from '../../examples/journeys/appointment-reminder.json';
import leadToCall from '../../examples/journeys/lead-to-call.json';
import nightlyListSweep from '../../examples/journeys/nightly-list-sweep.json';
import orderPaidWebhook from '../../examples/journeys/order-paid-webhook.json';
import paymentFailed from '../../examples/journeys/payment-failed.json';
import renewalNotice from '../../examples/journeys/renewal-notice.json';
import reviewRequest from '../../examples/journeys/review-request.json';
import winBack from '../../examples/journeys/win-back.json';
import type { JourneyFile } from '../../scripts/tour/journey-file.ts';

const files = {
  'abandoned-cart': abandonedCart,
  'order-paid-webhook': orderPaidWebhook,
  'appointment-reminder': appointmentReminder,
  'lead-to-call': leadToCall,
  'win-back': winBack,
  'payment-failed': paymentFailed,
  'review-request': reviewRequest,
  'renewal-notice': renewalNotice,
  'nightly-list-sweep': nightlyListSweep,
};

export type GalleryName = keyof typeof files;

/** The files of `examples/journeys/`, which tests in workerd cannot read from the disk. */
export const gallery = files as unknown as Record<GalleryName, JourneyFile>;

/** The files of `examples/agents/`. */
export const galleryAgents: Record<string, object> = {
  'abandoned-cart': abandonedCartAgent,
  'appointment-reminder': appointmentAgent,
  'new-lead': newLeadAgent,
  'payment-failed': paymentAgent,
  'renewal-notice': renewalAgent,
  'win-back': winBackAgent,
};

export const galleryNames = Object.keys(files) as GalleryName[];
