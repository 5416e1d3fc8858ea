import { placeholdersOf, type SimulatedTemplate } from '../messaging/catalogue.ts';
import { isPlainNumber } from '../messaging/delivery-outcome.ts';
import { badRequest } from './errors.ts';

const known = new Set(
  `To From MessagingServiceSid Body ContentSid ContentVariables StatusCallback MediaUrl ValidityPeriod SmartEncoded
  ProvideFeedback ApplicationSid SendAt ScheduleType`.split(/\s+/),
);
const channel = 'whatsapp:';
const maxBodyLength = 1_600;

/** A message as it was ordered. */
export interface MessageRequest {
  /** E.164. */
  to: string;
  from: string | null;
  messagingServiceSid: string | null;
  template: SimulatedTemplate | undefined;
  params: string[];
  body: string | null;
  statusCallback: string | null;
}

/** The order in a form of `POST /Messages.json`. Throws TwilioError. */
export function readMessageRequest(form: URLSearchParams, catalogue: SimulatedTemplate[]): MessageRequest {
  const unknown = [...form.keys()].find((name) => !known.has(name));
  // Twilio ignores an unknown parameter. The simulator refuses it, so that a misspelling is noticed.
  if (unknown !== undefined) throw badRequest(20001, `Unknown parameter: ${unknown}`);
  const to = form.get('To')?.trim();
  if (!to) throw badRequest(21604, "A 'To' phone number is required.");
  if (!isChannelNumber(to)) throw badRequest(21211, `The 'To' number ${to} is not a valid phone number.`);
  const [from, messagingServiceSid, body] = ['From', 'MessagingServiceSid', 'Body'].map((name) => form.get(name) || null) as (
    | string
    | null
  )[];
  if (!from && !messagingServiceSid) throw badRequest(21603, "A 'From' phone number is required.");
  if (messagingServiceSid && !/^MG[0-9a-f]{32}$/i.test(messagingServiceSid))
    throw badRequest(21701, 'The Messaging Service does not exist.');
  if (from) checkFrom(from);
  const statusCallback = form.get('StatusCallback') || null;
  if (statusCallback !== null && !/^https?:\/\//.test(statusCallback))
    throw badRequest(21609, `The StatusCallback URL ${statusCallback} is not a valid URL.`);
  const order = { to: to.slice(channel.length), from: from ?? null, messagingServiceSid: messagingServiceSid ?? null, statusCallback };
  const contentSid = form.get('ContentSid');
  if (contentSid === null) {
    if (!body) throw badRequest(21619, 'A text message body or media urls must be specified.');
    if (body.length > maxBodyLength) throw badRequest(21617, 'The concatenated message body exceeds the 1600 character limit.');
    return { ...order, template: undefined, params: [], body };
  }
  const template = catalogue.find(({ id }) => id === contentSid);
  if (template === undefined) throw badRequest(21655, 'The ContentSid is Invalid');
  return { ...order, template, params: variablesOf(form.get('ContentVariables'), template), body: null };
}

const isChannelNumber = (text: string) => text.startsWith(`${channel}+`) && isPlainNumber(text.slice(channel.length + 1));

/** Whether the account owns a number: one of the magic numbers, and every number outside of their block. */
function checkFrom(from: string): void {
  const isOwned = isChannelNumber(from) && (!from.startsWith(`${channel}+1500555`) || from === `${channel}+15005550006`);
  if (!isOwned) throw badRequest(63007, 'Twilio could not find a Channel with the specified From address');
}

/** Twilio uses the sample of a missing variable. The simulator refuses the message, so that the mistake is noticed. */
function variablesOf(text: string | null, template: SimulatedTemplate): string[] {
  const invalid = badRequest(21656, 'The Content Variables parameter is invalid');
  const numbers = placeholdersOf(template);
  let variables: Record<string, unknown>;
  try {
    variables = JSON.parse(text ?? '{}') as Record<string, unknown>;
  } catch {
    throw invalid;
  }
  const values = numbers.map((number) => variables[number]);
  if (values.some(isBad) || Object.keys(variables).some((key) => !numbers.includes(key))) throw invalid;
  return values as string[];
}

const isBad = (value: unknown) => typeof value !== 'string' || value.trim() === '' || /[\n\t]| {5}/.test(value);
