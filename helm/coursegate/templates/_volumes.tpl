{{- /*
The volumes of the gate's container. For the parent chart's pod:

      volumes:
        {{- include "coursegate.volumes" .Subcharts.coursegate | nindent 8 }}
*/ -}}
{{- define "coursegate.volumes" -}}
- name: coursegate-config
  configMap: { name: {{ include "coursegate.fullname" . }} }
- name: coursegate-tmp
  emptyDir: { sizeLimit: 64Mi }
{{- if eq (include "coursegate.storeKind" .) "sqlite" }}
- name: coursegate-data
  {{- with .Values.persistence }}
  {{- if .existingClaim }}
  persistentVolumeClaim: { claimName: {{ .existingClaim | quote }} }
  {{- else if .enabled }}
  persistentVolumeClaim: { claimName: {{ include "coursegate.fullname" $ }} }
  {{- else }}
  emptyDir: {}
  {{- end }}
  {{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}
