import { z } from '@hono/zod-openapi';
import { isDate } from './calendar.ts';
import { parseDuration, durationProblem } from '../library/time/durations.ts';
import { coversWholeWeek, WeeklySlots } from '../library/time/weekly-slots.ts';

export const channels = ['call', 'message'] as const;
export type Channel = (typeof channels)[number];

const dayMs = 86_400_000;
/** Decisions are kept longer than this, so that a rolling window always sees all contacts in it. */
export const maxWindowDays = 90;

const scope = z
  .enum([...channels, 'any'], `Must be call, message or any`)
  .describe('Which contacts it is about: `call`, `message`, or `any` of both together.');

/** A length of time without calendar months, at most `maxWindowDays`. */
const windowProblem = (text: string): string | null => {
  const problem = durationProblem(text);
  if (problem) return problem;
  const { months, milliseconds } = parseDuration(text);
  if (months > 0) return `"${text}" has months or years, whose length changes; write days, such as P30D`;
  return milliseconds > maxWindowDays * dayMs ? `"${text}" is longer than ${maxWindowDays} days` : null;
};
const checkedWindow = (text: string, context: z.RefinementCtx): void => {
  const problem = windowProblem(text);
  if (problem) context.addIssue({ code: 'custom', message: problem });
};

const ContactLimit = z
  .strictObject({
    channel: scope.default('any'),
    max: z.int().min(1).max(1000).describe('How many contacts a person gets at most in this time.'),
    per: z
      .string('Must be day, week or a duration such as P7D')
      .superRefine((text, context) => {
        if (text !== 'day' && text !== 'week') checkedWindow(text, context);
      })
      .describe(
        '`day` and `week` (from Monday) of the calendar where the person is, or an ISO 8601 duration up to P90D, which is a window that moves with the clock.',
      ),
  })
  .describe('The most contacts with a person in a time.');

const ContactGap = z
  .strictObject({
    channel: scope.default('any'),
    gap: z.string('Must be a duration such as PT4H').superRefine(checkedWindow).describe('An ISO 8601 duration up to P90D.'),
  })
  .describe('The least time between two contacts with a person.');

const channelList = z
  .array(z.enum(channels, 'Must be call or message'))
  .min(1, 'Name at least one channel, or leave the list out for both')
  .max(2)
  .default([...channels])
  .describe('For which contacts it holds; both when left out.');

const QuietHours = z
  .strictObject({
    slots: WeeklySlots.refine(
      (slots) => !coversWholeWeek(slots),
      'The slots cover the whole week, so nobody could ever be contacted',
    ).describe('Parts of the week in which nobody is contacted, by the clock where the person is.'),
    channels: channelList,
  })
  .describe('When nobody is contacted. A person who may be in several time zones is left alone while it is quiet hours in one of them.');

const date = z.string('Must be a date').refine(isDate, 'Not a date of the calendar; use YYYY-MM-DD');

const DaysOff = z
  .strictObject({
    public_holidays: z
      .boolean()
      .default(true)
      .describe("Whether the national public holidays of the person's country are days off. The phone number tells the country."),
    dates: z.array(date).max(366).default([]).describe('Further days off for everybody, `YYYY-MM-DD`.'),
    channels: channelList,
  })
  .describe('Days on which nobody is contacted, from midnight to midnight where the person is.');

const ConsentRule = z
  .strictObject({
    channels: channelList,
    custom_field: z
      .string('Must be text')
      .trim()
      .min(1)
      .max(100)
      .nullable()
      .default(null)
      .describe('The custom field of a contact that says yes to contacts: true, 1, "yes" or "true"; null: only a recorded consent counts.'),
  })
  .describe('Nobody is contacted without consent: the newest that was recorded for the channel or, where there is none, the custom field.');

export const ContactPolicyBody = z
  .strictObject({
    limits: z.array(ContactLimit).max(20).default([]).describe('The most contacts with a person in a time. All of them hold.'),
    min_gaps: z.array(ContactGap).max(10).default([]).describe('The least time between two contacts with a person. All of them hold.'),
    quiet_hours: QuietHours.nullable().default(null).describe('When nobody is contacted; null: at no time of the week.'),
    days_off: DaysOff.nullable().default(null).describe('Days on which nobody is contacted; null: none.'),
    consent: ConsentRule.nullable().default(null).describe('Whose consent is needed; null: nobody is asked for consent.'),
    when_held: z
      .enum(['wait', 'skip'], 'Must be wait or skip')
      .default('wait')
      .describe(
        'What becomes of a contact that a rule does not allow now: campaigns and journeys wait until all rules allow it, or skip the person. A single call never waits.',
      ),
  })
  .openapi('ContactPolicyBody');
export type ContactPolicy = z.output<typeof ContactPolicyBody>;

export const emptyPolicy: ContactPolicy = ContactPolicyBody.parse({});

/** Whether the policy allows everything. */
export const hasNoRules = ({ limits, min_gaps, quiet_hours, days_off, consent }: ContactPolicy): boolean =>
  limits.length === 0 && min_gaps.length === 0 && quiet_hours === null && days_off === null && consent === null;

/** The length of a window that `windowProblem` accepts. */
export const toWindowMs = (text: string): number => parseDuration(text).milliseconds;
