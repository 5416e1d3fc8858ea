import { z } from 'zod';
import { namesOf, type SimulatedTemplate } from '../messaging/catalogue.ts';

const SendRequest = z.strictObject({
  template_name: z.string().min(1),
  broadcast_name: z.string().min(1),
  parameters: z.array(z.strictObject({ name: z.string(), value: z.string() })),
  channel_number: z.string().optional(),
});

export type Reading = { template: SimulatedTemplate; params: string[]; broadcast: string } | { malformed: string } | { refused: string };

/** The body of `POST sendTemplateMessage`. Malformed ones are a 400, others refused with status 200. */
export function readSend(json: unknown, catalogue: SimulatedTemplate[]): Reading {
  const parsed = SendRequest.safeParse(json);
  if (!parsed.success) return { malformed: z.prettifyError(parsed.error) };
  const { template_name: name, broadcast_name: broadcast, parameters } = parsed.data;
  const template = catalogue.find((one) => one.name === name);
  if (template?.status !== 'approved') return { refused: `Template ${name} is not found or not approved` };
  const names = namesOf(template);
  const unknown = parameters.find((parameter) => !names.includes(parameter.name));
  if (unknown) return { refused: `Unknown parameter ${unknown.name}` };
  const values = names.map((one) => parameters.find((parameter) => parameter.name === one)?.value);
  const missing = names.filter((_name, index) => !values[index]);
  if (missing.length > 0) return { refused: `Missing parameters: ${missing.join(', ')}` };
  if (values.some((value) => /[\n\t]| {5}/.test(value!)))
    return { refused: "Parameters can't have new-line/tab characters or more than 4 consecutive spaces" };
  return { template, params: values as string[], broadcast };
}
