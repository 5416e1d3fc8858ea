import type { SimulatedTemplate } from '../messaging/catalogue.ts';

/** A template as both lists have it. */
export const toGupshupTemplate = (app: string) => (template: SimulatedTemplate) => ({
  id: template.id,
  appId: app,
  elementName: template.name,
  languageCode: template.language,
  status: template.status.toUpperCase(),
  category: template.category,
  templateType: 'TEXT',
  data: template.body,
  containerMeta: JSON.stringify({ appId: app, data: template.body, sampleText: template.body, enableSample: true }),
  createdOn: 1_767_225_600_000,
  modifiedOn: 1_767_225_600_000,
});
