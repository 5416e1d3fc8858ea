import type { Issue } from '../../library/errors.ts';
import { isRecord } from '../../library/json/json.ts';
import type { ShapedNode } from './graph-rules.ts';
import { definitionIssue } from './issues.ts';

/**
 * Checks that a node that extracts has variables, that their names differ within the node, and that variables of several nodes have one
 * type.
 */
export function extractionIssues(nodes: ShapedNode[]): Issue[] {
  const types = new Map<string, { type: unknown; node: string }>();
  return nodes.flatMap(({ id, data }) => {
    const variables = Array.isArray(data['extraction_variables']) ? (data['extraction_variables'] as unknown[]) : [];
    const loc = ['nodes', id, 'data', 'extraction_variables'];
    if (data['extraction_enabled'] === true && variables.length === 0)
      return [definitionIssue(loc, `"${id}" is to extract, but names no variable; add one, or set extraction_enabled to false`)];
    const own = new Set<string>();
    return variables.flatMap((variable, index) => {
      if (!isRecord(variable) || typeof variable['name'] !== 'string') return [];
      const { name, type = 'string' } = variable as { name: string; type?: unknown };
      if (own.has(name)) return [definitionIssue([...loc, String(index), 'name'], `"${name}" is extracted twice by "${id}"; remove one`)];
      own.add(name);
      const first = types.get(name) ?? { type, node: id };
      types.set(name, first);
      if (first.type === type) return [];
      return [
        definitionIssue(
          [...loc, String(index), 'type'],
          `"${name}" is a ${String(first.type)} in "${first.node}"; give it that type or another name`,
        ),
      ];
    });
  });
}
