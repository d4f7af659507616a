// Patches the binding of @tensorflow/tfjs-node-gpu 4.22.0 before set-up compiles it: registers the
// methods of graph_functions.h, compile_function.h and memory_stats.h and the operation of lstm.h,
// and makes it compute on the first of several GPUs instead of the last. Only a copy is changed,
// never npm's files.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hashOf } from '../files.mjs'

/** Our headers, which the patched sources include. */
const HEADERS = ['graph_functions.h', 'compile_function.h', 'memory_stats.h', 'lstm.h']

/** The remaining fields of a method's napi_property_descriptor. */
const NO_MORE = 'nullptr, nullptr, nullptr, napi_default, nullptr'

/**
 * For each file, the SHA-256 of the original, and pairs of a line and the text to insert before it.
 */
const CHANGES = {
  'tfjs_backend.h': {
    sha256: '51a1cb1db170f78edca4edcd1245b600251f88fba9c5fdea340fb13d9e4cc728',
    insertions: [
      [
        ' private:',
        '  TFE_Context *context() const { return tfe_context_; }\n' +
          '  TFE_TensorHandle *handle(int32_t id) const ' +
          '{ return tfe_handle_map_.count(id) ? tfe_handle_map_.at(id) : nullptr; }',
      ],
    ],
  },
  'tfjs_backend.cc': {
    sha256: '37a6a6f29e0be5e6ba17fe2b7c943a730f1069eaa8a536fd42ea22b0c56695f7',
    insertions: [
      [
        '      device_name =',
        '      if (!device_name.empty()) continue;  // the first, as CUDA does',
      ],
    ],
  },
  'tfjs_binding.cc': {
    sha256: '352e096779ac9c9cfe0648ea887e8991828375e2b11955b4e220b7ab5b9fb690',
    insertions: [
      ['namespace tfnodejs {', HEADERS.map((name) => `#include "${name}"`).join('\n')],
      [
        '      {"getNumOfTensors", nullptr, GetNumOfTensors, nullptr, nullptr,',
        `      {"addFunction", nullptr, AddFunction, ${NO_MORE}},\n` +
          `      {"removeFunction", nullptr, RemoveFunction, ${NO_MORE}},\n` +
          `      {"compileFunction", nullptr, CompileFunction, ${NO_MORE}},\n` +
          `      {"memoryStats", nullptr, MemoryStats, ${NO_MORE}},`,
      ],
    ],
  },
}

/** Changes whenever the patches would produce a different binding. */
export const patchKey = () =>
  hashOf(JSON.stringify(CHANGES) + HEADERS.map((name) => readFileSync(own(name), 'utf8')).join(''))

/**
 * Copies the sources of the package's binding into `folder`, and patches them.
 * @throws Error naming a source file that is not the version the patches are for
 */
export function layPatchedSources(packageFolder, folder) {
  mkdirSync(folder, { recursive: true })
  cpSync(join(packageFolder, 'binding.gyp'), join(folder, 'binding.gyp'))
  cpSync(join(packageFolder, 'binding'), join(folder, 'binding'), { recursive: true })
  for (const name of HEADERS) cpSync(own(name), join(folder, 'binding', name))
  for (const [name, change] of Object.entries(CHANGES)) {
    const file = join(folder, 'binding', name)
    writeFileSync(file, changed(name, readFileSync(file, 'utf8'), change))
  }
}

const own = (name) => fileURLToPath(new URL(name, import.meta.url))

function changed(name, text, { sha256, insertions }) {
  if (hashOf(text) !== sha256) {
    throw new Error(
      `binding/${name} of @tensorflow/tfjs-node-gpu is not the one that Winnow's changes are for ` +
        '(scripts/setup/binding/patch.mjs): install the packages again, with `npm ci`',
    )
  }
  return insertions.reduce(
    (whole, [line, insertion]) => whole.replace(`${line}\n`, () => `${insertion}\n${line}\n`),
    text,
  )
}
