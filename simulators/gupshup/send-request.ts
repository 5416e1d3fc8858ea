import { z } from 'zod';
import { placeholdersOf, type SimulatedTemplate } from '../messaging/catalogue.ts';
import { isPlainNumber } from '../messaging/delivery-outcome.ts';

const Template = z.strictObject({ id: z.string().min(1), params: z.array(z.string()) });
const Text = z.strictObject({ type: z.literal('text'), text: z.string().min(1).max(4096), previewUrl: z.boolean().optional() });

const common = ['channel', 'source', 'destination', 'src.name'];
const knownFields = {
  template: new Set([...common, 'template', 'message', 'postbackTexts', 'sandbox']),
  text: new Set([...common, 'message', 'disablePreview', 'encode']),
};

export interface RequestedMessage {
  app: string;
  /** Digits. */
  to: string;
  template: SimulatedTemplate | undefined;
  params: string[];
  text: string | null;
}

/** A message in the form of `/wa/api/v1/template/msg` or `/wa/api/v1/msg`, or what is wrong with it. */
export function readSend(
  form: URLSearchParams,
  kind: 'template' | 'text',
  catalogueOf: (app: string) => SimulatedTemplate[],
): RequestedMessage | { malformed: string } {
  const unknown = [...form.keys()].find((name) => !knownFields[kind].has(name));
  if (unknown !== undefined) return { malformed: `Unknown parameter ${unknown}` };
  if ((form.get('channel') ?? 'whatsapp') !== 'whatsapp') return { malformed: 'Invalid Channel' };
  const [source, to, app] = ['source', 'destination', 'src.name'].map((name) => form.get(name) ?? '') as [string, string, string];
  if (!isPlainNumber(source)) return { malformed: 'Invalid Source' };
  if (!isPlainNumber(to)) return { malformed: 'Invalid Destination' };
  if (app === '') return { malformed: 'Invalid App Details' };
  if (kind === 'text') {
    const text = parse(form.get('message'), Text);
    return text ? { app, to, template: undefined, params: [], text: text.text } : { malformed: 'Invalid Message' };
  }
  const given = parse(form.get('template'), Template);
  if (!given) return { malformed: 'Invalid Template' };
  const template = catalogueOf(app).find(({ id }) => id === given.id);
  if (template?.status !== 'approved') return { malformed: 'Template Not Found' };
  const expected = placeholdersOf(template).length;
  if (given.params.length !== expected)
    return { malformed: `Template params mismatch: ${given.params.length} given, ${expected} expected` };
  if (given.params.some((value) => value.trim() === '' || /[\n\t]| {5}/.test(value))) return { malformed: 'Invalid Template params' };
  return { app, to, template, params: given.params, text: null };
}

function parse<Value>(text: string | null, schema: z.ZodType<Value>): Value | undefined {
  try {
    return schema.safeParse(JSON.parse(text ?? '')).data;
  } catch {
    return undefined;
  }
}
