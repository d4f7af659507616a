{{- define "winnow.labels" -}}
app.kubernetes.io/name: winnow
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- /* Takes a list: the root, and the component. */}}
{{- define "winnow.selector" -}}
app.kubernetes.io/name: winnow
app.kubernetes.io/instance: {{ (first .).Release.Name }}
app.kubernetes.io/component: {{ last . }}
{{- end }}

{{- /* Later maps of settings override earlier ones. Numbers are whole, so 1e+06 becomes 1000000. */}}
{{- define "winnow.env" -}}
{{- $settings := dict }}
{{- range . }}{{ $settings = mergeOverwrite $settings (deepCopy .) }}{{ end }}
{{- range $name, $value := $settings }}
{{- if kindIs "float64" $value }}{{ $value = int64 $value }}{{ end }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}

{{- /* The port for admins; empty if it is unset, "off" or 0, which a Service cannot name. */}}
{{- define "winnow.adminPort" -}}
{{- with int (mergeOverwrite (dict) .Values.settings .Values.gateway.settings).ADMIN_PORT }}{{ . }}{{ end }}
{{- end }}

{{- /* Any user will do, since only volumes are written to. */}}
{{- define "winnow.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
shareProcessNamespace: true # so that its first process reaps orphans, which node does not
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Takes a list: the root, a tag that may be empty, and the program. */}}
{{- define "winnow.container" -}}
{{- $image := (first .).Values.image }}
image: "{{ $image.repository }}:{{ coalesce (index . 1) $image.tag (first .).Chart.AppVersion }}"
imagePullPolicy: {{ $image.pullPolicy }}
workingDir: /usr/lib/winnow
command: [node, scripts/run.mjs, {{ last . }}]
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}
