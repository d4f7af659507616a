// `node compile-addons.mjs FOLDER`, run with Node 20: puts this checkout's addons into a folder,
// and compiles those that are missing. Later versions of Node use the same binding.

import { bindingStep, sqliteStep } from '../../setup/addons.mjs'
import { layPrebuilt } from '../../setup/prebuilt.mjs'

const steps = [bindingStep(), sqliteStep()]
for (const step of steps) if (!step.isDone()) await step.run()
layPrebuilt(process.argv[2], Object.fromEntries(steps.map(({ key, addon }) => [key, addon])))
