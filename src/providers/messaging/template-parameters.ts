import { localFailure, type MessagingFailure } from './failures.ts';
import type { Template, TemplateParameter } from './templates.ts';

export interface FilledParameter extends TemplateParameter {
  value: string;
}

const isNumber = (key: string) => /^\d+$/.test(key);

/** The values that all providers, or WhatsApp, refuse. */
const valueRules: [(value: string) => boolean, string][] = [
  [(value) => value.trim() === '', 'is empty'],
  [(value) => /[\n\r]/.test(value), 'has a line break'],
  [(value) => value.includes('\t'), 'has a tab'],
  [(value) => / {5}/.test(value), 'has more than four blanks in a row'],
];

/**
 * The value of each placeholder of a template, in order, or the failure of `params`. A value is given under the parameter's name, or under
 * the number of a named parameter. Names that the template does not have are ignored; a number beyond the last placeholder is an error.
 */
export function fillParameters(template: Template, params: Record<string, string>): { filled: FilledParameter[] } | MessagingFailure {
  const { parameters, name, isNamed, unfillable = [] } = template;
  if (unfillable.length > 0)
    return localFailure(
      'template_params',
      `The template "${name}" has parts that this service cannot fill: ${unfillable.join(', ')}; choose a template without them`,
    );
  const given = new Map(Object.entries(params));
  // Numbered placeholders of a header and of buttons are counted separately.
  const byPlace = (index: number) => (isNamed ? given.get(String(index + 1)) : undefined);
  const filled = parameters.map((parameter, index) => ({ ...parameter, value: given.get(parameter.name) ?? byPlace(index) }));

  const missing = filled.filter(({ value }) => value === undefined).map((parameter) => `"${parameter.name}"`);
  if (missing.length > 0)
    return parametersFailure(`lacks ${missing.join(', ')}: the template "${name}" has ${describePlaceholders(parameters)}`);

  const known = new Set(parameters.map((parameter) => parameter.name));
  const isPlace = (key: string) => isNamed && Number(key) >= 1 && Number(key) <= parameters.length;
  const beyond = [...given.keys()].filter((key) => isNumber(key) && !known.has(key) && !isPlace(key));
  if (beyond.length > 0)
    return parametersFailure(
      `has ${beyond.map((key) => `"${key}"`).join(', ')} too many: the template "${name}" has ${describePlaceholders(parameters)}`,
    );

  for (const parameter of filled) {
    const fault = valueRules.find(([isFaulty]) => isFaulty(parameter.value!))?.[1];
    if (fault)
      return parametersFailure(`["${parameter.name}"] ${fault}, which the messaging app does not take; give plain text in one line`);
  }
  return { filled: filled as FilledParameter[] };
}

const parametersFailure = (fault: string) => localFailure('template_params', `template_params ${fault}`);

function describePlaceholders(parameters: TemplateParameter[]): string {
  if (parameters.length === 0) return 'no placeholders';
  const names = parameters.map(({ name }) => `"${name}"`).join(', ');
  return parameters.length === 1 ? `one placeholder, ${names}` : `${parameters.length} placeholders, ${names}`;
}
