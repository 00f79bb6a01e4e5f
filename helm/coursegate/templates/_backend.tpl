{{- /*
The backend in the same pod. When a pod is deleted, it is removed from the Service and stopped at the same time. If the backend
stopped at once, the gate, which stops last, would answer the remaining requests with 502. So it sleeps in its preStop hook.
*/ -}}
{{- define "coursegate.backend" -}}
{{- $seconds := int .Values.backend.preStopSeconds -}}
{{- $sleep := ternary (dict "sleep" (dict "seconds" $seconds)) (dict "exec" (dict "command" (list "sleep" (toString $seconds)))) (semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version) -}}
{{- $ours := dict "name" "backend" -}}
{{- if gt $seconds 0 -}}{{- $_ := set $ours "lifecycle" (dict "preStop" $sleep) -}}{{- end -}}
{{- $given := deepCopy .Values.backend.container -}}
{{- if dig "lifecycle" "preStop" "" $given -}}{{- $_ := unset $ours "lifecycle" -}}{{- end -}}
{{- toYaml (mustMergeOverwrite $ours $given) -}}
{{- end -}}
