export { default } from '../shared/typescript/eslint.config.js';
