// Lays this checkout's addons for Node 20 into a folder, compiled where they are not yet:
// `node compile-addons.mjs FOLDER`, with a Node 20. Later Nodes take the same binding.

import { bindingStep, sqliteStep } from '../../setup/addons.mjs'
import { layPrebuilt } from '../../setup/prebuilt.mjs'

const steps = [bindingStep(), sqliteStep()]
for (const step of steps) if (!step.isDone()) await step.run()
layPrebuilt(process.argv[2], Object.fromEntries(steps.map(({ key, addon }) => [key, addon])))
