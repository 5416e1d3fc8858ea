interface NamedSchema {
  name: string;
  schema?: Record<string, unknown> | undefined;
  strict?: boolean | null | undefined;
}

type Node = Record<string, unknown>;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Why the schema of a `json_schema` response format is refused, or null. */
export function responseSchemaFault({ name, schema, strict }: NamedSchema): string | null {
  const fault = rootFault(schema) ?? (strict && schema ? strictFault(schema, []) : null);
  return fault && `Invalid schema for response_format '${name}': ${fault}`;
}

/** Why the parameters of a function tool are refused, or null. */
export function functionSchemaFault(tool: {
  name: string;
  parameters?: Node | undefined;
  strict?: boolean | null | undefined;
}): string | null {
  if (tool.parameters === undefined) return null;
  const fault = rootFault(tool.parameters) ?? (tool.strict ? strictFault(tool.parameters, []) : null);
  return fault && `Invalid schema for function '${tool.name}': ${fault}`;
}

const rootFault = (schema: Node | undefined): string | null =>
  schema?.['type'] === 'object'
    ? null
    : `schema must be a JSON Schema of 'type: "object"', got 'type: "${String(schema?.['type'] ?? 'None')}"'.`;

const unsupported = [
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'prefixItems',
];

/** The rules of strict mode: every object closed, every property required, no composition but `anyOf`. */
function strictFault(node: Node, path: string[]): string | null {
  const context = `In context=(${path.map((key) => `'${key}'`).join(', ')}${path.length === 1 ? ',' : ''}), `;
  const banned = unsupported.find((keyword) => keyword in node);
  if (banned) return `${context}'${banned}' is not permitted.`;
  const isObject = node['type'] === 'object' || (Array.isArray(node['type']) && node['type'].includes('object')) || 'properties' in node;
  if (isObject && node['additionalProperties'] !== false)
    return `${context}'additionalProperties' is required to be supplied and to be false.`;
  const properties = isNode(node['properties']) ? node['properties'] : {};
  const required = Array.isArray(node['required']) ? node['required'] : [];
  const missing = Object.keys(properties).find((key) => !required.includes(key));
  if (missing !== undefined)
    return `${context}'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
  if (node['type'] === 'array' && !isNode(node['items'])) return `${context}array schema missing items.`;
  return childrenOf(node, path).reduce<string | null>((fault, [child, at]) => fault ?? strictFault(child, at), null);
}

function childrenOf(node: Node, path: string[]): [Node, string[]][] {
  const named = ['properties', '$defs', 'definitions'].flatMap((keyword) =>
    Object.entries(isNode(node[keyword]) ? node[keyword] : {}).map(([key, child]): [unknown, string[]] => [child, [...path, keyword, key]]),
  );
  const alternatives = Array.isArray(node['anyOf'])
    ? node['anyOf'].map((child, index): [unknown, string[]] => [child, [...path, 'anyOf', String(index)]])
    : [];
  const all: [unknown, string[]][] = [...named, [node['items'], [...path, 'items']], ...alternatives];
  return all.filter((pair): pair is [Node, string[]] => isNode(pair[0]));
}
