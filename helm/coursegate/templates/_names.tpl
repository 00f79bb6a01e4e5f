{{- define "coursegate.name" -}}
{{- default "coursegate" .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "coursegate.fullname" -}}
{{- $name := include "coursegate.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "coursegate.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: {{ include "coursegate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* The labels that select the pods with the gate: those of this chart's Deployment, or of the parent chart's pods. */ -}}
{{- define "coursegate.podSelector" -}}
{{- if eq .Values.mode "deployment" -}}
app.kubernetes.io/name: {{ include "coursegate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- else if .Values.sidecar.podLabels -}}
{{- toYaml .Values.sidecar.podLabels -}}
{{- else if eq .Values.mode "inject" -}}
{{ .Values.inject.label }}: "true"
{{- else -}}
{{- fail "sidecar.podLabels: set the labels of your pods, such as { app: school }; the Service, the NetworkPolicy and the metrics select the pods by them" -}}
{{- end -}}
{{- end -}}

{{- define "coursegate.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "coursegate.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "coursegate.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{- printf "%s@%s" .repository .digest -}}
{{- else -}}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) -}}
{{- end -}}
{{- end -}}
{{- end -}}
