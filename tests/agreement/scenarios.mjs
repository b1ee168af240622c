// The scenarios of the official suite, each with the case that tests the same, and the corresponding checks of both. One
// of our checks may correspond to several of the suite; it counts as violated there if one of these fails.

const list = 'everything/json-schema-2020-12';
const enums = 'everything/elicitation-sep1330-enums';
const defaults = 'everything/elicitation-sep1034-defaults';
const keeps = 'everything/client-json-schema-2020-12-preservation';
const fills = 'everything/client-elicitation-sep1034-defaults';

const field = (name, row) => ({
  official: [`elicitation-sep1034-${name}-default`],
  ours: [[`${defaults}/asks/${row}`, 'sep-1034/default-kept']],
});

export const scenarios = [
  {
    name: 'json-schema-2020-12',
    role: 'server',
    revisions: ['2025-11-25', '2026-07-28'],
    serve: `${list}/works`,
    checks: [
      { official: ['json-schema-2020-12-tool-found'], ours: [[`${list}/works`, 'tools/arguments-arrive']] },
      {
        official: ['json-schema-2020-12-$schema', 'json-schema-2020-12-$defs'],
        ours: [[`${list}/dialect`, 'sep-1613/schema-keyword-kept']],
      },
      {
        official: ['json-schema-2020-12-additionalProperties'],
        ours: [[`${list}/dialect`, 'tools/input-schema-kept']],
      },
      {
        official: ['sep-2106-composition-keywords-preserved'],
        ours: [[`${list}/composition`, 'sep-2106/input-keywords-kept']],
      },
      {
        official: ['sep-2106-conditional-keywords-preserved'],
        ours: [[`${list}/condition`, 'sep-2106/input-keywords-kept']],
      },
      {
        official: ['sep-2106-anchor-keyword-preserved'],
        ours: [[`${list}/anchor`, 'sep-2106/input-keywords-kept']],
      },
    ],
  },
  {
    name: 'elicitation-sep1330-enums',
    role: 'server',
    revisions: ['2025-11-25'],
    serve: `${enums}/untitled`,
    checks: [
      {
        official: ['elicitation-sep1330-untitled-single'],
        ours: [[`${enums}/untitled`, 'sep-1330/untitled-single']],
      },
      { official: ['elicitation-sep1330-titled-single'], ours: [[`${enums}/asks`, 'sep-1330/titled-single']] },
      { official: ['elicitation-sep1330-legacy-enumnames'], ours: [[`${enums}/asks`, 'sep-1330/legacy-titled']] },
      { official: ['elicitation-sep1330-untitled-multi'], ours: [[`${enums}/asks`, 'sep-1330/untitled-multi']] },
      { official: ['elicitation-sep1330-titled-multi'], ours: [[`${enums}/asks`, 'sep-1330/titled-multi']] },
    ],
  },
  {
    name: 'elicitation-sep1034-defaults',
    role: 'server',
    revisions: ['2025-11-25'],
    serve: `${defaults}/asks/string`,
    checks: [
      field('string', 'string'),
      field('integer', 'integer'),
      field('number', 'number'),
      {
        official: ['elicitation-sep1034-enum-default'],
        ours: [
          [`${defaults}/asks/enum`, 'sep-1034/default-kept'],
          [`${defaults}/choice/enum`, 'sep-1330/untitled-single'],
        ],
      },
      field('boolean', 'boolean'),
    ],
  },
  {
    name: 'json-schema-ref-no-deref',
    role: 'client',
    revisions: ['2026-07-28'],
    checks: [
      {
        official: ['sep-2106-no-network-ref-deref'],
        ours: [['everything/client-json-schema-ref-no-deref/listed', 'sep-2106/no-network-deref']],
      },
    ],
  },
  {
    name: 'json-schema-2020-12-preservation',
    role: 'client',
    revisions: ['2025-11-25', '2026-07-28'],
    // The scenario expects the schema that the client received, which a fixed script cannot contain.
    client: 'round-trip.mjs',
    checks: [
      {
        official: ['json-schema-2020-12-client-$schema-preserved'],
        ours: [[`${keeps}/handed-over`, 'sep-1613/schema-keyword-kept']],
      },
      {
        official: [
          'json-schema-2020-12-client-$defs-preserved',
          'json-schema-2020-12-client-additionalProperties-preserved',
        ],
        ours: [[`${keeps}/handed-over`, 'tools/input-schema-kept']],
      },
      {
        official: [
          'sep-2106-client-composition-keywords-preserved',
          'sep-2106-client-conditional-keywords-preserved',
          'sep-2106-client-anchor-keyword-preserved',
        ],
        ours: [[`${keeps}/handed-over`, 'sep-2106/input-keywords-kept']],
      },
    ],
  },
  {
    name: 'elicitation-sep1034-client-defaults',
    role: 'client',
    revisions: ['2025-11-25'],
    checks: [
      {
        official: ['string', 'integer', 'number', 'enum', 'boolean'].map(
          (type) => `client-elicitation-sep1034-${type}-default`
        ),
        ours: [[`${fills}/untouched`, 'sep-1034/client-prefills']],
      },
    ],
  },
];

// The reference, and all targets in the languages of the SDKs that run the official suite.
export const targets = [
  'reference',
  'typescript-sdk:default',
  'typescript-sdk:sessions',
  'typescript-sdk:low',
  'typescript-sdk-v1:low',
  'typescript-sdk-v1:zod',
  'sep-2106-reference:low',
  'sep-2106-reference:zod',
  'python-sdk:low',
  'python-sdk-v1:low',
  'fastmcp:tool',
  'rust-sdk:router',
];

// Mutants of the reference that violate exactly what a scenario checks.
export const mutants = {
  'reference:dialect-lost': ['json-schema-2020-12'],
  'reference:keyword-emptied': ['json-schema-2020-12'],
  'reference:closed-schema-opened': ['json-schema-2020-12'],
  'reference:enum-names-lost': ['elicitation-sep1330-enums'],
  'reference:titles-lost': ['elicitation-sep1330-enums'],
  'reference:enum-turned-into-text': ['elicitation-sep1330-enums'],
  'reference:multi-select-made-single': ['elicitation-sep1330-enums'],
  'reference:defaults-lost': ['elicitation-sep1034-defaults'],
  'reference:default-wrong': ['elicitation-sep1034-defaults'],
  'reference:client-fetches-ref': ['json-schema-ref-no-deref'],
  'reference:schema-keywords-dropped-by-client': ['json-schema-2020-12-preservation'],
  'reference:default-wrong-value': ['elicitation-sep1034-client-defaults'],
  'reference:defaults-as-text': ['elicitation-sep1034-client-defaults'],
  'reference:defaults-ignored': ['elicitation-sep1034-client-defaults'],
};
