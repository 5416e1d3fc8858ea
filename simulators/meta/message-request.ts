import { z } from 'zod';
import { isPlainNumber } from '../messaging/delivery-outcome.ts';
import { namesOf, placeholdersOf, type SimulatedTemplate } from '../messaging/catalogue.ts';
import { badParameter, MetaError } from './errors.ts';

const Parameter = z.strictObject({
  type: z.literal('text'),
  text: z.string(),
  parameter_name: z.string().optional(),
});

const MessageRequest = z
  .strictObject({
    messaging_product: z.literal('whatsapp'),
    recipient_type: z.literal('individual').optional(),
    to: z.string(),
    type: z.enum(['template', 'text']),
    template: z
      .strictObject({
        name: z.string().min(1),
        language: z.strictObject({ code: z.string().min(1) }),
        components: z.array(z.strictObject({ type: z.literal('body'), parameters: z.array(Parameter) })).optional(),
      })
      .optional(),
    text: z.strictObject({ body: z.string().min(1).max(4096), preview_url: z.boolean().optional() }).optional(),
    biz_opaque_callback_data: z.string().max(512).optional(),
  })
  .refine((request) => request[request.type] !== undefined, 'the content named by type is required');

export interface RequestedMessage {
  /** Digits. */
  to: string;
  template: SimulatedTemplate | undefined;
  params: string[];
  text: string | null;
  reference: string | null;
}

/** The message in the body of `POST /{phone number id}/messages`. Throws MetaError. */
export function readMessage(json: unknown, catalogue: SimulatedTemplate[]): RequestedMessage {
  const parsed = MessageRequest.safeParse(json);
  if (!parsed.success) throw badParameter(z.prettifyError(parsed.error));
  const { to, template, text, biz_opaque_callback_data: reference = null } = parsed.data;
  const digits = to.replace(/^\+/, '');
  if (!isPlainNumber(digits)) throw new MetaError(400, 131009, '(#131009) Parameter value is not valid', { details: `to: ${to}` });
  if (template === undefined) return { to: digits, template: undefined, params: [], text: text!.body, reference };
  const known = templateOf(template.name, template.language.code, catalogue);
  const parameters = template.components?.flatMap((component) => component.parameters) ?? [];
  return { to: digits, template: known, params: checkParameters(parameters, known), text: null, reference };
}

function templateOf(name: string, language: string, catalogue: SimulatedTemplate[]): SimulatedTemplate {
  const found = catalogue.find((template) => template.name === name && template.language === language);
  if (found?.status === 'paused') throw new MetaError(400, 132015, '(#132015) Template is Paused', { details: 'Template is paused' });
  if (found?.status === 'disabled') throw new MetaError(400, 132016, '(#132016) Template is Disabled', { details: 'Template is disabled' });
  if (found?.status === 'approved') return found;
  const details = `template name (${name}) does not exist in ${language}`;
  throw new MetaError(404, 132001, '(#132001) Template name does not exist in the translation', { details });
}

function checkParameters(parameters: z.infer<typeof Parameter>[], template: SimulatedTemplate): string[] {
  const expected = placeholdersOf(template).length;
  if (parameters.length !== expected) {
    const details = `body: number of localizable_params (${parameters.length}) does not match the expected number of params (${expected})`;
    throw new MetaError(400, 132000, '(#132000) Number of parameters does not match the expected number of params', { details });
  }
  const wrongName = parameters.find(({ parameter_name: name }, index) => name !== undefined && name !== namesOf(template)[index]);
  if (wrongName || parameters.some(({ parameter_name: name }) => template.is_named !== (name !== undefined)))
    throw new MetaError(400, 132012, '(#132012) Parameter format does not match format in the created template');
  const bad = parameters.find(({ text }) => text.trim() === '' || /[\n\t]| {5}/.test(text));
  if (bad) {
    const details = 'Param text cannot be empty or have new-line/tab characters or more than 4 consecutive spaces';
    throw new MetaError(400, 132018, '(#132018) There’s an issue with the parameters in your template', { details });
  }
  return parameters.map(({ text }) => text);
}
