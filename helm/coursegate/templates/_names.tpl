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

{{- /* What finds the pods that the gate runs in: ours, or those of whoever took it in. */ -}}
{{- define "coursegate.podSelector" -}}
{{- if eq .Values.mode "deployment" -}}
app.kubernetes.io/name: {{ include "coursegate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- else if .Values.sidecar.podLabels -}}
{{- toYaml .Values.sidecar.podLabels -}}
{{- else if eq .Values.mode "inject" -}}
{{ .Values.inject.label }}: "true"
{{- else -}}
{{- fail "sidecar.podLabels: name the labels of your pods, such as { app: school }: the Service, the NetworkPolicy and the metrics find them by these" -}}
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
