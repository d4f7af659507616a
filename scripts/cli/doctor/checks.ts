/** Every check of `doctor`, in the order of its table. */

import { checkBroker } from './checks/broker.ts'
import { checkBucket } from './checks/bucket.ts'
import { checkCompute } from './checks/compute.ts'
import { checkDatabase } from './checks/database.ts'
import { checkDisk } from './checks/disk.ts'
import { checkDriver } from './checks/driver.ts'
import { checkEgress } from './checks/egress.ts'
import { checkInstallation } from './checks/installation.ts'
import { checkMemory } from './checks/memory.ts'
import { checkNode } from './checks/node.ts'
import { checkPorts } from './checks/ports.ts'
import { checkSandbox } from './checks/sandbox.ts'
import { checkSettings } from './checks/settings.ts'
import { checkWeights } from './checks/weights.ts'
import type { Context } from './context.ts'
import type { Finding } from './finding.ts'

export interface Check {
  name: string
  run(context: Context): Promise<Finding[]>
}

export const CHECKS: readonly Check[] = [
  { name: 'node', run: checkNode },
  { name: 'settings', run: checkSettings },
  { name: 'driver', run: checkDriver },
  { name: 'memory', run: checkMemory },
  { name: 'weights', run: checkWeights },
  { name: 'compute', run: checkCompute },
  { name: 'sandbox', run: checkSandbox },
  { name: 'disk', run: checkDisk },
  { name: 'database', run: checkDatabase },
  { name: 'installation', run: checkInstallation },
  { name: 'broker', run: checkBroker },
  { name: 'bucket', run: checkBucket },
  { name: 'egress', run: checkEgress },
  { name: 'ports', run: checkPorts },
]
