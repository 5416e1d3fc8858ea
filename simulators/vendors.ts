import { anthropic } from './anthropic.ts';
import { composio } from './composio.ts';
import { googleCalendar } from './google-calendar.ts';
import { googleSheets } from './google-sheets.ts';
import { createGupshup } from './gupshup.ts';
import { jira } from './jira.ts';
import { createMeta } from './meta.ts';
import { openai } from './openai.ts';
import { receiver } from './receiver.ts';
import { slack } from './slack.ts';
import { createTelnyx } from './telnyx.ts';
import { createTwilio } from './twilio.ts';
import { createWati } from './wati.ts';
import type { Vendor } from './vendor.ts';
import { zohoBooks } from './zoho-books.ts';

/** Every simulated vendor: a new one is a file beside this one and a line here. */
export const vendors: Vendor[] = [
  receiver,
  openai,
  anthropic,
  createTwilio(),
  createTelnyx(),
  createWati(),
  createMeta(),
  createGupshup(),
  composio,
  slack,
  jira,
  googleCalendar,
  googleSheets,
  zohoBooks,
];
