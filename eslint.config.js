import js from '@eslint/js';
import boundaries from 'eslint-plugin-boundaries';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

/**
 * The rooms of the house and what each may import. Inside the engine imports go one way:
 * mongod -> home -> capture -> changes -> adopt -> branches, and only `service` sees them all.
 */
const rooms = [
  { type: 'shared', pattern: 'shared/**' },
  { type: 'mongod', pattern: 'electron/engine/mongod/**' },
  { type: 'home', pattern: 'electron/engine/home/**' },
  { type: 'capture', pattern: 'electron/engine/capture/**' },
  { type: 'changes', pattern: 'electron/engine/changes/**' },
  { type: 'adopt', pattern: 'electron/engine/adopt/**' },
  { type: 'transfer', pattern: 'electron/engine/transfer/**' },
  { type: 'browse', pattern: 'electron/engine/browse/**' },
  { type: 'branches', pattern: 'electron/engine/branches/**' },
  { type: 'service', pattern: 'electron/engine/service/**' },
  { type: 'local', pattern: 'electron/local/**' },
  { type: 'server', pattern: 'electron/server/**' },
  { type: 'cli', pattern: 'electron/cli/**' },
  { type: 'preload', pattern: 'electron/preload/**' },
  { type: 'main', pattern: 'electron/main/**' },
  { type: 'renderer', pattern: 'renderer/**' },
  { type: 'test', pattern: 'test/**' },
];

const allowed = {
  shared: ['shared'],
  mongod: ['mongod', 'shared'],
  home: ['home', 'mongod', 'shared'],
  capture: ['capture', 'home', 'mongod', 'shared'],
  changes: ['changes', 'capture', 'home', 'mongod', 'shared'],
  adopt: ['adopt', 'changes', 'capture', 'home', 'mongod', 'shared'],
  transfer: ['transfer', 'mongod', 'shared'],
  browse: ['browse', 'mongod', 'shared'],
  branches: ['branches', 'transfer', 'adopt', 'changes', 'capture', 'home', 'mongod', 'shared'],
  service: ['service', 'branches', 'browse', 'transfer', 'adopt', 'changes', 'capture', 'home', 'mongod', 'shared'],
  local: ['local', 'shared'],
  // The lock tells processes apart by the same rule as the servers' reaping.
  server: ['server', 'service', 'mongod', 'local', 'shared'],
  cli: ['cli', 'local', 'shared'],
  preload: ['preload', 'shared'],
  main: ['main', 'local', 'shared'],
  renderer: ['renderer', 'shared'],
  test: rooms.map((room) => room.type),
};

export default tseslint.config(
  { ignores: ['dist/**', 'release/**', 'node_modules/**', 'test-results/**', '.cache/**'] },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      eqeqeq: ['error', 'smart'],
    },
  },
  {
    files: ['{electron,renderer,shared,test}/**/*.{ts,tsx}'],
    plugins: { boundaries },
    settings: {
      'import/resolver': { typescript: { project: 'tsconfig.json' } },
      'boundaries/elements': rooms.map((room) => ({ ...room, partialMatch: false })),
    },
    rules: {
      'boundaries/dependencies': [
        'error',
        {
          default: 'disallow',
          policies: Object.entries(allowed).map(([from, to]) => ({
            from: { element: { type: from } },
            allow: { to: { element: { types: { anyOf: to } } } },
          })),
        },
      ],
    },
  },
  {
    files: ['renderer/**/*.tsx'],
    ...reactHooks.configs.flat.recommended,
    rules: {
      ...reactHooks.configs.flat.recommended.rules,
      // Says what React's compiler would skip; nothing here goes through it.
      'react-hooks/incompatible-library': 'off',
    },
  },
  {
    files: ['renderer/**', 'electron/main/**', 'electron/preload/**', 'electron/cli/**'],
    // Stands for any program that is given a connection string.
    ignores: ['electron/cli/demo-script.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { paths: [{ name: 'mongodb', message: 'Only the engine speaks to MongoDB.' }] },
      ],
    },
  },
  {
    files: ['electron/engine/**', 'electron/server/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: ['electron', 'react'].map((name) => ({
            name,
            message: 'The engine knows neither Electron nor React.',
          })),
        },
      ],
    },
  },
  {
    files: ['**/*.{js,mjs}'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } },
  },
);
