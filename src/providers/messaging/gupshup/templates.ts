import { z } from 'zod';
import { isRecord } from '../../../library/json/json.ts';
import { bodyParameters, findPlaceholders, type MediaKind, type Template, type TemplateParameter } from '../templates.ts';
import { tryParseJson } from '../../../library/json/json.ts';

const ListedTemplate = z.looseObject({
  id: z.string().min(1),
  elementName: z.string().min(1),
  languageCode: z.string().nullish(),
  status: z.string(),
  category: z.string().nullish(),
  templateType: z.string().nullish(),
  data: z.string().nullish(),
  containerMeta: z.string().nullish(),
});

const mediaKinds: Record<string, MediaKind> = { IMAGE: 'image', VIDEO: 'video', DOCUMENT: 'document' };

const supportedTypes = new Set(['TEXT', ...Object.keys(mediaKinds)]);

/** A template of the list; undefined for anything else. `containerMeta` has its parts; `data` has the whole text. */
export function parseGupshupTemplate(listed: unknown): Template | undefined {
  const parsed = ListedTemplate.safeParse(listed);
  if (!parsed.success) return undefined;
  const { id, elementName: name, languageCode, status, category, templateType, data, containerMeta } = parsed.data;
  const meta = parseContainerMeta(containerMeta);
  const body = meta.body ?? data ?? '';
  const kind = mediaKinds[templateType?.toUpperCase() ?? ''];
  const parameters: TemplateParameter[] = [
    ...(kind ? [{ name: `header_${kind}`, place: 'header' as const, kind }] : []),
    ...findPlaceholders(meta.header).map((one) => ({ name: `header_${one}`, place: 'header' as const, kind: 'text' as const })),
    ...bodyParameters(findPlaceholders(body)),
    ...meta.buttons.flatMap((url, index) =>
      findPlaceholders(url).length > 0 ? [{ name: `button_${index}`, place: 'button' as const, kind: 'text' as const, index }] : [],
    ),
  ];
  const components = [
    ...(meta.header ? [{ type: 'HEADER', text: meta.header }] : []),
    { type: 'BODY', text: body },
    ...(meta.footer ? [{ type: 'FOOTER', text: meta.footer }] : []),
    ...(meta.rawButtons.length > 0 ? [{ type: 'BUTTONS', buttons: meta.rawButtons }] : []),
  ];
  const isOdd = templateType && !supportedTypes.has(templateType.toUpperCase());
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

function parseContainerMeta(containerMeta: string | null | undefined) {
  const meta = tryParseJson(containerMeta ?? '');
  const part = (name: string) => (isRecord(meta) && typeof meta[name] === 'string' ? meta[name] : undefined);
  const rawButtons: unknown[] = isRecord(meta) && Array.isArray(meta['buttons']) ? meta['buttons'] : [];
  const buttons = rawButtons.map((button) => (isRecord(button) && typeof button['url'] === 'string' ? button['url'] : ''));
  return { body: part('data'), header: part('header') ?? '', footer: part('footer') ?? '', buttons, rawButtons };
}
