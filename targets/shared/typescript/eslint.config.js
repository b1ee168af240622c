import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  { ignores: ['build/'] },
  {
    files: ['**/*.ts'],
    extends: [js.configs.recommended, tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      // Variants test parts of the SDKs that are deprecated and still documented.
      '@typescript-eslint/no-deprecated': 'off',
      // The SDKs' documentation writes all handlers as async functions.
      '@typescript-eslint/require-await': 'off'
    }
  }
);
