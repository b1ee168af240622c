export { default } from '../typescript/eslint.config.js';
