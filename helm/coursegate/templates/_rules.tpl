{{- /* What values.schema.json says too, in words, and for those who switch the schema off. */ -}}
{{- define "coursegate.rules" -}}
{{- $store := include "coursegate.storeKind" . -}}
{{- if and (include "coursegate.several" .) (ne $store "redis") -}}
{{- fail (printf "config.store.kind: %s keeps everything in one place, so there can be one gate only: for replicas > 1 or autoscaling set redis.existingSecret (or config.store with kind: redis)" $store) -}}
{{- end -}}
{{- if and (eq $store "redis") (not .Values.secret.existingSecret) (not .Values.config.secret) -}}
{{- fail "secret.existingSecret: a redis store needs key material, the same for every gate: make it with `openssl rand -base64 32` and name the Secret that holds it" -}}
{{- end -}}
{{- range $name, $_ := .Values.files -}}
{{- if eq $name "coursegate.yaml" -}}
{{- fail "files: coursegate.yaml is made from config, and cannot be among the files" -}}
{{- end -}}
{{- end -}}
{{- if and (eq .Values.mode "deployment") .Values.backend.container -}}
{{- range $port := .Values.backend.container.ports -}}
{{- $listen := (include "coursegate.configuration" $ | fromYaml).listen -}}
{{- if has (int $port.containerPort) (list (int $listen.port) (int $listen.admin.port) (int $listen.probes.port)) -}}
{{- fail (printf "backend.container: port %d is one of the gate's: set config.listen.port (or listen.admin.port, listen.probes.port) to another" (int $port.containerPort)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
