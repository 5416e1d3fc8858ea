import { z } from 'zod';
import { Id } from '../parse-fields.ts';
import { bodyParameters, findPlaceholders, type MediaKind, type Template, type TemplateParameter } from '../templates.ts';

const Component = z.looseObject({
  type: z.string(),
  format: z.string().nullish(),
  text: z.string().nullish(),
  buttons: z.array(z.looseObject({ type: z.string(), url: z.string().nullish() })).nullish(),
});

const ListedTemplate = z.looseObject({
  id: Id,
  name: z.string().min(1),
  status: z.string(),
  category: z.string().default(''),
  language: z.string(),
  parameter_format: z.string().nullish(),
  components: z.array(Component).default([]),
});

type MetaComponent = z.infer<typeof Component>;

const mediaKinds: Record<string, MediaKind> = { IMAGE: 'image', VIDEO: 'video', DOCUMENT: 'document' };

/** A template of the list; undefined for anything else. */
export function parseMetaTemplate(listed: unknown): Template | undefined {
  const parsed = ListedTemplate.safeParse(listed);
  if (!parsed.success) return undefined;
  const { id, name, status, category, language, components, parameter_format: format } = parsed.data;
  const isNamed = format?.toUpperCase() === 'NAMED';
  const parameters = components.flatMap((component) => componentParameters(component, isNamed));
  const body = components.find(({ type }) => type === 'BODY')?.text ?? '';
  const unfillable = components.flatMap(unsupportedParts);
  const shown = { id, name, language, category, status, body, placeholders: parameters.length, parameters, isNamed, components };
  return unfillable.length > 0 ? { ...shown, unfillable } : shown;
}

const supportedComponents = new Set(['HEADER', 'BODY', 'FOOTER', 'BUTTONS']);
const supportedHeaders = new Set(['', 'TEXT', ...Object.keys(mediaKinds)]);
/** Buttons without values, or with text values. */
const supportedButtons = new Set(['QUICK_REPLY', 'URL', 'PHONE_NUMBER', 'COPY_CODE', 'VOICE_CALL']);

/** Cards, limited offers, locations, products, one-time codes and flows need other kinds of values. */
function unsupportedParts({ type, format, buttons }: MetaComponent): string[] {
  if (!supportedComponents.has(type)) return [type.toLowerCase()];
  if (type === 'HEADER' && !supportedHeaders.has(format ?? '')) return [`header (${format!.toLowerCase()})`];
  return (buttons ?? []).flatMap((button, index) =>
    supportedButtons.has(button.type) ? [] : [`button_${index} (${button.type.toLowerCase()})`],
  );
}

function componentParameters(component: MetaComponent, isNamed: boolean): TemplateParameter[] {
  const names = findPlaceholders(component.text ?? '');
  if (component.type === 'BODY') return bodyParameters(names);
  if (component.type === 'HEADER') {
    const kind = mediaKinds[component.format ?? ''];
    if (kind) return [{ name: `header_${kind}`, place: 'header', kind }];
    return names.map((name) => ({ name: isNamed ? name : `header_${name}`, place: 'header', kind: 'text' }));
  }
  return (component.buttons ?? []).flatMap(({ type, url }, index): TemplateParameter[] => {
    const isCode = type === 'COPY_CODE';
    if (!isCode && !(type === 'URL' && findPlaceholders(url ?? '').length > 0)) return [];
    return [{ name: `button_${index}`, place: 'button', kind: 'text', index, ...(isCode && { isCode }) }];
  });
}
