import type { z } from '@hono/zod-openapi';
import type { Template } from '../../providers/messaging/templates.ts';
import type { TemplateList } from '../schemas.ts';

export const toTemplateRecord = (template: Template): z.infer<typeof TemplateList>['templates'][number] => ({
  id: template.id,
  name: template.name,
  language: template.language,
  category: template.category,
  status: template.status,
  body: template.body,
  placeholders: template.placeholders,
  parameters: template.parameters.map(({ name }) => name),
  unfillable: template.unfillable ?? [],
  components: template.components,
});
