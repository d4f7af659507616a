{{- /* Takes a dict: root, name of the Deployment, and its scaling. */}}
{{- define "winnow.scaledObject" }}
{{- $scaling := .scaling }}
{{- $keda := .root.Values.keda }}
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ .name }}
  labels: {{ include "winnow.labels" .root | nindent 4 }}
spec:
  scaleTargetRef: { name: {{ .name }} }
  minReplicaCount: {{ $scaling.min }}
  maxReplicaCount: {{ $scaling.max }}
  {{- if eq $scaling.by "prometheus" }}
  triggers:
    - type: prometheus
      metadata:
        serverAddress: {{ $keda.prometheus }}
        # Every gateway reports all work, so this is the maximum over gateways, summed over models. It
        # is 0 if these models have no work, and unknown while no gateway knows: then nothing scales.
        {{- $namespace := printf "namespace=%q" .root.Release.Namespace }}
        query: >-
          sum(max by (model, status) (winnow_work_seconds{ {{- $namespace }},model=~{{ $scaling.models | quote }}}))
          or 0 * max(winnow_database_up{ {{- $namespace }}} == 1)
        ignoreNullValues: 'false'
        threshold: {{ $scaling.secondsPerEngine | quote }}
  {{- else }}
  advanced:
    scalingModifiers:
      # The queues of jobs that name no model. A single trigger would follow only the longest of them.
      formula: short + short_further + first + further + batch
      target: {{ $scaling.jobsPerEngine | quote }}
  triggers:
    {{- range $queue, $consumer := dict
      "short" "engines-short" "short_further" "engines-short-further"
      "first" "engines" "further" "engines-further" "batch" "engines-batch" }}
    - type: nats-jetstream
      name: {{ $queue }}
      metadata:
        natsServerMonitoringEndpoint: {{ $keda.nats.monitoring }}
        account: {{ $keda.nats.account }}
        stream: JOBS
        consumer: {{ $consumer }}
        lagThreshold: {{ $scaling.jobsPerEngine | quote }}
    {{- end }}
  {{- end }}
{{- end }}
