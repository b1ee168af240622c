/** @type {import('prettier').Config} */
export default {
  arrowParens: 'avoid',
  printWidth: 120,
  singleQuote: true,
  trailingComma: 'none'
};
