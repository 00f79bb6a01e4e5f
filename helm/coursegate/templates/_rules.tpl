{{- /* Repeats rules of values.schema.json, with readable messages, and for installs that skip schema validation. */ -}}
{{- define "coursegate.rules" -}}
{{- $store := include "coursegate.storeKind" . -}}
{{- if and (include "coursegate.several" .) (not (include "coursegate.sharedStore" .)) -}}
{{- fail (printf "config.store.kind: %s allows one replica only; for replicas > 1 or autoscaling set redis.existingSecret (or config.store with kind: redis, postgres or mysql)" $store) -}}
{{- end -}}
{{- if and (include "coursegate.sharedStore" .) (not .Values.secret.existingSecret) (not .Values.config.secret) -}}
{{- fail (printf "secret.existingSecret: a %s store needs key material, the same for every replica: generate it with `openssl rand -base64 32`, store it in a Secret, and set the name of that Secret" $store) -}}
{{- end -}}
{{- if or .Values.schools .Values.config.schools -}}
{{- if .Values.plugin.istio.enabled -}}
{{- fail "plugin.istio: is for one school; this release has many" -}}
{{- end -}}
{{- range $key := list "origin" "profile" "login" "upstreams" "routes" "site" -}}
{{- if hasKey $.Values.config $key -}}
{{- fail (printf "config.%s: belongs in the settings of each school, or in a file that they extend" $key) -}}
{{- end -}}
{{- end -}}
{{- else if not .Values.config.origin -}}
{{- fail "config.origin: set the address of your site, or the schools in `schools`" -}}
{{- end -}}
{{- if and .Values.schools .Values.config.schools -}}
{{- fail "schools: is its own folder, so config.schools cannot name another one" -}}
{{- end -}}
{{- range $name, $_ := .Values.files -}}
{{- if and $.Values.schools (hasSuffix ".yml" $name) -}}
{{- fail (printf "files: %s would be read as a school; files that schools share end in .yaml" $name) -}}
{{- end -}}
{{- if eq $name "coursegate.yaml" -}}
{{- fail "files: coursegate.yaml is generated from config, so it cannot be one of the files" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.plugin.istio.enabled (not (include "coursegate.decisionPort" .)) -}}
{{- fail "plugin.istio: set config.listen.decisions.address to HOST:PORT, such as 0.0.0.0:9092, and its secret" -}}
{{- end -}}
{{- if and .Values.plugin.istio.enabled (not .Values.plugin.istio.gateways) -}}
{{- fail "plugin.istio.gateways: name the Gateways of your site, such as istio-system/site" -}}
{{- end -}}
{{- if and (eq .Values.mode "deployment") .Values.backend.container -}}
{{- range $port := .Values.backend.container.ports -}}
{{- $listen := (include "coursegate.configuration" $ | fromYaml).listen -}}
{{- if has (int $port.containerPort) (list (int $listen.port) (int $listen.admin.port) (int $listen.probes.port)) -}}
{{- fail (printf "backend.container: port %d is used by the gate; change config.listen.port (or listen.admin.port, listen.probes.port)" (int $port.containerPort)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
