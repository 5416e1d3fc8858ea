import { openai } from './openai.ts';
import { receiver } from './receiver.ts';
import { createTelnyx } from './telnyx.ts';
import { createTwilio } from './twilio.ts';
import type { Vendor } from './vendor.ts';

/** Every simulated vendor: a new one is a file beside this one and a line here. */
export const vendors: Vendor[] = [receiver, openai, createTwilio(), createTelnyx()];
