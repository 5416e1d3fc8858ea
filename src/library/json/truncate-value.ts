const maxValueBytes = 8 * 1024;

/** A value whose JSON is over 8 KiB is cut and marked as cut. */
export function truncateValue(value: unknown): unknown {
  if (value === undefined) return null;
  const json = JSON.stringify(value);
  if (json.length <= maxValueBytes) return value;
  return {
    _cut: `${json.length} characters of JSON; the first ${maxValueBytes / 2} follow`,
    beginning: json.slice(0, maxValueBytes / 2),
  };
}
