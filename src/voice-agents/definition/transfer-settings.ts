import { z } from 'zod';
import { configObject } from '../../library/json/config-object.ts';
import { isAssignable, unassignableDetail } from '../../library/phone/assignable.ts';
import { isTimeZone } from '../../library/time/time-zones.ts';
import { WeeklySlots } from '../../library/time/weekly-slots.ts';
import { blockedUrlReason } from '../../providers/http/ssrf-guard.ts';

const defaultRingSeconds = 25;
const defaultMaxSeconds = 3600;
const maxSpeechLength = 1_000;

const phonePattern = /^\+[1-9]\d{6,14}$/;
/** RFC 3261, section 19.1.1, without passwords and headers. */
const sipPattern =
  /^sips?:[\w.!~*'()&=+$,;?/%-]{1,64}@(\[[\da-f:.]{2,45}\]|[\w.-]{1,200})(:\d{1,5})?(;[\w.-]{1,40}(=[\w.-]{1,40})?){0,5}$/i;

/** Why a call cannot be handed to this phone number (E.164) or SIP address; null: it can. */
function transferTargetProblem(target: string): string | null {
  if (phonePattern.test(target)) return isAssignable(target) ? null : unassignableDetail(target);
  const host = sipPattern.exec(target)?.[1];
  if (host === undefined)
    return 'Must be a phone number with its country code, such as +12125550123, or a SIP address, such as sip:desk@example.com';
  const url = URL.canParse(`https://${host}`) ? new URL(`https://${host}`) : null;
  const blocked = url === null ? `"${host}" is neither a name nor an address` : blockedUrlReason(url, []);
  return blocked === null ? null : `Must be a public SIP address: ${blocked}`;
}

/** The blanks, brackets, dots and hyphens with which people write phone numbers. */
const toCompactPhone = (target: string): string => (/^\s*\+/.test(target) ? target.replace(/[\s().\-–/]/g, '') : target.trim());

const target = z
  .string()
  .max(320)
  .overwrite(toCompactPhone)
  .superRefine((given, context) => {
    const problem = transferTargetProblem(given);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });

const summaryTarget = z
  .string()
  .max(100)
  .overwrite(toCompactPhone)
  .superRefine((given, context) => {
    const problem = phonePattern.test(given)
      ? isAssignable(given)
        ? null
        : unassignableDetail(given)
      : 'Must be a phone number with its country code, such as +12125550123';
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });

const SummaryTemplate = configObject({
  name: z.string().min(1).max(1000),
  language: z.string().max(100).nullish(),
  /** The placeholder that becomes the summary. */
  placeholder: z.string().min(1).max(100).nullish(),
});

const optional = <Schema extends z.ZodType, Usual>(schema: Schema, usual: Usual) => schema.nullish().transform((given) => given ?? usual);

const BusinessHours = configObject({
  timezone: z.string().refine(isTimeZone, 'Unknown time zone; use an IANA name, such as Europe/Berlin'),
  slots: WeeklySlots,
});

/** How a caller is handed to a human: the data of a `transfer` node, and `transfer` of a tool. */
export const transferFields = {
  /** A phone number in E.164, or a SIP address. */
  to: target,
  /** `warm`: the human gets a summary of the talk before the two are connected. */
  mode: optional(z.enum(['cold', 'warm']), 'cold' as const),
  /** How the human gets it: said on the phone, or sent by the organization's messaging provider before the human is dialled. */
  summary: optional(z.enum(['say', 'send']), 'say' as const),
  /** The phone number to which the summary is sent; absent: the number that is dialled. */
  summary_to: summaryTarget.nullish(),
  /** The approved template with which it is sent; absent: as a text. */
  summary_template: SummaryTemplate.nullish(),
  /** Said before the human is dialled. Null, here and below: the phrase of the agent. */
  announcement: z.string().max(maxSpeechLength).nullish(),
  ring_seconds: optional(z.int().min(5).max(120), defaultRingSeconds),
  /** The longest talk with the human. */
  max_seconds: optional(z.int().min(60).max(14_400), defaultMaxSeconds),
  /** Absent: at any time. */
  business_hours: BusinessHours.nullish(),
  /** Dialled outside of the business hours, and when no human answers at `to`. */
  fallback_to: target.nullish(),
  /** Said outside of the business hours without `fallback_to`. */
  closed_message: z.string().max(maxSpeechLength).nullish(),
  /** Whether the carrier tells a mailbox from a human. A mailbox has not taken the call. */
  machine_detection: optional(z.boolean(), true),
  /** Said when nobody answers. */
  unanswered_message: z.string().max(maxSpeechLength).nullish(),
};

/** The texts of a transfer that are templates. */
export const transferTemplates = ['announcement', 'closed_message', 'unanswered_message'];

/** A summary that is sent needs a phone number: SIP addresses get no messages. */
export function checkSummaryTarget(
  { mode, summary, summary_to: summaryTo, to, fallback_to: fallback }: SummarySettings,
  context: { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void },
): void {
  const isSent = mode === 'warm' && summary === 'send' && !summaryTo;
  if (isSent && [to, fallback].some((one) => one && !phonePattern.test(one)))
    context.addIssue({
      code: 'custom',
      path: ['summary_to'],
      message: 'Is missing; a SIP address gets no messages, so name the number that gets the summary',
    });
}

type SummarySettings = {
  mode: 'cold' | 'warm';
  summary: 'say' | 'send';
  to: string;
  summary_to?: string | null | undefined;
  fallback_to?: string | null | undefined;
};

export const TransferSettings = configObject(transferFields).superRefine(checkSummaryTarget);
export type TransferSettings = z.infer<typeof TransferSettings>;

/** The most seconds that a call lasts longer by this transfer. */
export const transferSeconds = ({ ring_seconds: ring, max_seconds: max }: TransferSettings): number => 2 * ring + max;
