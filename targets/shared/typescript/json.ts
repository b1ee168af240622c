/**
 * Writes a value as JSON, at any depth. `JSON.parse` accepts any depth, but `JSON.stringify` throws a RangeError after
 * some thousand levels, and the tools that a client has listed can be that deep.
 */
export function stringify(value: unknown): string {
  let text = '';
  // What comes next is at the end: values that are not written yet, and the text between them.
  const pending: (string | { value: unknown })[] = [{ value }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === 'string') text += next;
    else if (Array.isArray(next.value)) {
      pending.push(']');
      for (let index = next.value.length - 1; index >= 0; index--) {
        pending.push({ value: next.value[index] as unknown }, index > 0 ? ',' : '');
      }
      text += '[';
    } else if (typeof next.value === 'object' && next.value !== null) {
      const members = Object.entries(next.value).filter(([, member]) => member !== undefined);
      pending.push('}');
      for (const [index, [key, member]] of [...members.entries()].reverse()) {
        pending.push({ value: member }, `${index > 0 ? ',' : ''}${JSON.stringify(key)}:`);
      }
      text += '{';
    } else text += JSON.stringify(next.value);
  }
  return text;
}
