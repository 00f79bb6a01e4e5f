{{- /*
Renders a YAML value as a CEL expression of the type that the API server expects at that path (Object.spec.…). Takes a dict
with `value` and `path`. Resource requests and limits are plain maps; all other maps are objects.
*/ -}}
{{- define "coursegate.cel" -}}
{{- $path := .path -}}
{{- if kindIs "map" .value -}}
{{- $parts := list -}}
{{- $plain := regexMatch "\\.resources\\.(limits|requests)$" $path -}}
{{- range $key, $value := .value -}}
{{- $inner := include "coursegate.cel" (dict "value" $value "path" (printf "%s.%s" $path $key)) -}}
{{- $parts = append $parts (printf "%s: %s" (ternary (toJson $key) $key $plain) $inner) -}}
{{- end -}}
{{- printf "%s{%s}" (ternary "" $path $plain) (join ", " $parts) -}}
{{- else if kindIs "slice" .value -}}
{{- $parts := list -}}
{{- range .value -}}
{{- $parts = append $parts (include "coursegate.cel" (dict "value" . "path" $path)) -}}
{{- end -}}
{{- printf "[%s]" (join ", " $parts) -}}
{{- else if kindIs "float64" .value -}}
{{- int64 .value -}}
{{- else -}}
{{- toJson .value -}}
{{- end -}}
{{- end -}}
