{{- /*
The gate's container as one entry of a list. For the parent chart's pod:

      initContainers:
        {{- include "coursegate.container" .Subcharts.coursegate | nindent 8 }}

Probes use a listener on the pod's address that serves only /livez, /readyz and /metrics. An exec probe would start a Node
process every few seconds and fail on a busy node although the gate is healthy. Ports are referenced by number, because older
control planes do not resolve named ports of sidecars.
*/ -}}
{{- define "coursegate.container" -}}
- {{ include "coursegate.containerBody" . | nindent 2 | trim }}
{{- end -}}

{{- define "coursegate.containerBody" -}}
{{- $listen := (include "coursegate.configuration" . | fromYaml).listen -}}
{{- $native := and .Values.sidecar.native (or (ne .Values.mode "deployment") .Values.backend.container) -}}
name: coursegate
image: {{ include "coursegate.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- if $native }}
restartPolicy: Always
{{- end }}
args: [serve, --config, /etc/coursegate/coursegate.yaml]
{{- with (include "coursegate.env" . | trim) }}
env:
  {{- . | nindent 2 }}
{{- end }}
{{- with .Values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
ports:
  - { name: coursegate, containerPort: {{ int $listen.port }}, protocol: TCP }
  - { name: coursegate-obs, containerPort: {{ int $listen.probes.port }}, protocol: TCP }
  {{- with include "coursegate.decisionPort" . }}
  - { name: http-decisions, containerPort: {{ . }}, protocol: TCP }
  {{- end }}
startupProbe:
  httpGet: { path: /livez, port: {{ int $listen.probes.port }} }
  {{- toYaml .Values.probes.startup | nindent 2 }}
livenessProbe:
  httpGet: { path: /livez, port: {{ int $listen.probes.port }} }
  {{- toYaml .Values.probes.liveness | nindent 2 }}
readinessProbe:
  httpGet: { path: /readyz, port: {{ int $listen.probes.port }} }
  {{- toYaml .Values.probes.readiness | nindent 2 }}
{{- with .Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .Values.securityContext | nindent 2 }}
volumeMounts:
  - { name: coursegate-config, mountPath: /etc/coursegate, readOnly: true }
  - { name: coursegate-tmp, mountPath: /tmp }
  {{- if eq (include "coursegate.storeKind" .) "sqlite" }}
  - { name: coursegate-data, mountPath: /var/lib/coursegate }
  {{- end }}
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- define "coursegate.env" -}}
{{- with .Values.secret.existingSecret }}
- name: COURSEGATE_SECRET
  valueFrom: { secretKeyRef: { name: {{ . | quote }}, key: {{ $.Values.secret.key | quote }} } }
{{- end }}
{{- with .Values.redis.existingSecret }}
- name: REDIS_URL
  valueFrom: { secretKeyRef: { name: {{ . | quote }}, key: {{ $.Values.redis.key | quote }} } }
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}
