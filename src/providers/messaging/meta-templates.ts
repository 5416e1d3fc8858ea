import { z } from 'zod';
import { Id } from './texts.ts';
import { bodyParameters, placeholdersIn, type MediaKind, type Template, type TemplateParameter } from './templates.ts';

const Component = z.looseObject({
  type: z.string(),
  format: z.string().nullish(),
  text: z.string().nullish(),
  buttons: z.array(z.looseObject({ type: z.string(), url: z.string().nullish() })).nullish(),
});

const Listed = z.looseObject({
  id: Id,
  name: z.string().min(1),
  status: z.string(),
  category: z.string().default(''),
  language: z.string(),
  parameter_format: z.string().nullish(),
  components: z.array(Component).default([]),
});

type MetaComponent = z.infer<typeof Component>;

const media: Record<string, MediaKind> = { IMAGE: 'image', VIDEO: 'video', DOCUMENT: 'document' };

/** A template of the list; undefined for what is none. */
export function metaTemplate(listed: unknown): Template | undefined {
  const parsed = Listed.safeParse(listed);
  if (!parsed.success) return undefined;
  const { id, name, status, category, language, components, parameter_format: format } = parsed.data;
  const isNamed = format?.toUpperCase() === 'NAMED';
  const parameters = components.flatMap((component) => parametersOf(component, isNamed));
  const body = components.find(({ type }) => type === 'BODY')?.text ?? '';
  return { id, name, language, category, status, body, placeholders: parameters.length, parameters, isNamed, components };
}

function parametersOf(component: MetaComponent, isNamed: boolean): TemplateParameter[] {
  const names = placeholdersIn(component.text ?? '');
  if (component.type === 'BODY') return bodyParameters(names);
  if (component.type === 'HEADER') {
    const kind = media[component.format ?? ''];
    if (kind) return [{ name: `header_${kind}`, place: 'header', kind }];
    return names.map((name) => ({ name: isNamed ? name : `header_${name}`, place: 'header', kind: 'text' }));
  }
  return (component.buttons ?? []).flatMap(({ type, url }, index): TemplateParameter[] => {
    const isCode = type === 'COPY_CODE';
    if (!isCode && !(type === 'URL' && placeholdersIn(url ?? '').length > 0)) return [];
    return [{ name: `button_${index}`, place: 'button', kind: 'text', index, ...(isCode && { isCode }) }];
  });
}
