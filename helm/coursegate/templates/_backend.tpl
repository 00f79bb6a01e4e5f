{{- /*
The backend of the same pod. A pod that goes is taken out of the Service and told to stop at the same moment: a backend
that ended at once would leave the gate, which ends last, with requests it can only answer 502.
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
