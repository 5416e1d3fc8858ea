import { z } from 'zod';
import { isRecord } from '../../library/json.ts';
import { bodyParameters, placeholdersIn, type MediaKind, type Template, type TemplateParameter } from './templates.ts';
import { jsonOf } from './texts.ts';

const Listed = z.looseObject({
  id: z.string().min(1),
  elementName: z.string().min(1),
  languageCode: z.string().nullish(),
  status: z.string(),
  category: z.string().nullish(),
  templateType: z.string().nullish(),
  data: z.string().nullish(),
  containerMeta: z.string().nullish(),
});

const media: Record<string, MediaKind> = { IMAGE: 'image', VIDEO: 'video', DOCUMENT: 'document' };

const plainTypes = new Set(['TEXT', ...Object.keys(media)]);

/** A template of the list; undefined for what is none. Its parts stand in `containerMeta`; `data` is the whole of it as it is read. */
export function gupshupTemplate(listed: unknown): Template | undefined {
  const parsed = Listed.safeParse(listed);
  if (!parsed.success) return undefined;
  const { id, elementName: name, languageCode, status, category, templateType, data, containerMeta } = parsed.data;
  const meta = partsOf(containerMeta);
  const body = meta.body ?? data ?? '';
  const kind = media[templateType?.toUpperCase() ?? ''];
  const parameters: TemplateParameter[] = [
    ...(kind ? [{ name: `header_${kind}`, place: 'header' as const, kind }] : []),
    ...placeholdersIn(meta.header).map((one) => ({ name: `header_${one}`, place: 'header' as const, kind: 'text' as const })),
    ...bodyParameters(placeholdersIn(body)),
    ...meta.buttons.flatMap((url, index) =>
      placeholdersIn(url).length > 0 ? [{ name: `button_${index}`, place: 'button' as const, kind: 'text' as const, index }] : [],
    ),
  ];
  const components = [
    ...(meta.header ? [{ type: 'HEADER', text: meta.header }] : []),
    { type: 'BODY', text: body },
    ...(meta.footer ? [{ type: 'FOOTER', text: meta.footer }] : []),
    ...(meta.rawButtons.length > 0 ? [{ type: 'BUTTONS', buttons: meta.rawButtons }] : []),
  ];
  const isOdd = templateType && !plainTypes.has(templateType.toUpperCase());
  return {
    ...(isOdd && { unfillable: [templateType.toLowerCase()] }),
    id,
    name,
    language: languageCode ?? '',
    category: category ?? '',
    status,
    body,
    placeholders: parameters.length,
    parameters,
    isNamed: false,
    components,
  };
}

function partsOf(containerMeta: string | null | undefined) {
  const meta = jsonOf(containerMeta ?? '');
  const part = (name: string) => (isRecord(meta) && typeof meta[name] === 'string' ? meta[name] : undefined);
  const rawButtons: unknown[] = isRecord(meta) && Array.isArray(meta['buttons']) ? meta['buttons'] : [];
  const buttons = rawButtons.map((button) => (isRecord(button) && typeof button['url'] === 'string' ? button['url'] : ''));
  return { body: part('data'), header: part('header') ?? '', footer: part('footer') ?? '', buttons, rawButtons };
}
