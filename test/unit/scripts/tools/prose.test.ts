import assert from 'node:assert/strict'
import test from 'node:test'
import { adviceOnComments } from '../../../../scripts/tools/prose/comments.ts'
import { adviceOnMessages } from '../../../../scripts/tools/prose/messages.ts'
import { adviceOnPage } from '../../../../scripts/tools/prose/pages.ts'

test('prose advice names the line of a planted sentence, and ignores code', () => {
  const long = `It ${'is, '.repeat(30)}so.`
  const page = `# A title\n\n\`\`\`\nbeside\n\`\`\`\n\n- Short.\n- ${long}\n\nIt is \`beside\` code.\n`
  assert.deepEqual(
    adviceOnPage({ path: 'a.md', text: page }).map(({ path, line, rule }) => [path, line, rule]),
    [['a.md', 8, 'a sentence of more than 30 words']],
  )

  const comments = '/** Returns\n * what it has.\n *\n * Where it is.\n */\n'
  assert.deepEqual(
    adviceOnComments({ path: 'a.ts', text: comments }).map(({ line }) => line),
    [4],
  )

  const component = 'export const A = () => (\n  <p>Put it beside the other.</p>\n)\n'
  const logged = "log.info('Done.')\nlog.info('the engine has started')\n"
  const messages = (path: string, text: string) =>
    adviceOnMessages({ path, text }).map(({ line, text }) => [line, text])
  assert.deepEqual(messages('a.tsx', component), [[2, 'Put it beside the other.']])
  assert.deepEqual(messages('a.ts', logged), [[1, 'Done.']])
})
