import { z } from 'zod';
import { nodeTypes } from './registry.ts';

/** Every node type for whoever builds an editor: its data as JSON Schema, the handles of its example, and the example. */
export const describeNodeTypes = () =>
  [...nodeTypes.values()].map((type) => ({
    type: type.type,
    label: type.label,
    description: type.description,
    data_schema: z.toJSONSchema(type.dataSchema, { io: 'input', unrepresentable: 'any' }) as Record<string, unknown>,
    handles: type.handles(type.example),
    example: type.example,
  }));
