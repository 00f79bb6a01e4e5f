{{- /* Converts a duration of the gate's configuration, such as 500ms, 30s or 2m, to seconds, rounded up. */ -}}
{{- define "coursegate.seconds" -}}
{{- $number := regexFind "^[0-9]+" . | int64 -}}
{{- $unit := regexReplaceAll "^[0-9]+" . "" -}}
{{- if eq $unit "ms" -}}{{ div (add $number 999) 1000 }}
{{- else -}}{{ mul $number (get (dict "s" 1 "m" 60 "h" 3600 "d" 86400) $unit) }}
{{- end -}}
{{- end -}}

{{- /* A native sidecar next to its backend stops last, when load balancers no longer send requests. */ -}}
{{- define "coursegate.stopsLast" -}}
{{- if and .Values.sidecar.native (or (ne .Values.mode "deployment") .Values.backend.container) -}}true{{- end -}}
{{- end -}}

{{- define "coursegate.storeKind" -}}
{{- if .Values.config.store -}}{{ .Values.config.store.kind }}
{{- else if .Values.redis.existingSecret -}}redis
{{- else -}}sqlite
{{- end -}}
{{- end -}}

{{- /* Whether replicas can share the store. */ -}}
{{- define "coursegate.sharedStore" -}}
{{- if has (include "coursegate.storeKind" .) (list "redis" "postgres" "mysql") -}}true{{- end -}}
{{- end -}}

{{- /* Whether more than one replica may run. */ -}}
{{- define "coursegate.several" -}}
{{- if or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled -}}true{{- end -}}
{{- end -}}

{{- /*
The configuration file: the `config` value, merged over defaults for a pod. The admin listener stays on loopback. The kubelet
and Prometheus connect to the pod's address, so probes and metrics have a separate listener that serves nothing else.
`store` and `secret` are not merged: if `config` has one, it replaces the default.
*/ -}}
{{- define "coursegate.configuration" -}}
{{- $given := .Values.config -}}
{{- $notice := ternary "0s" "5s" (eq (include "coursegate.stopsLast" .) "true") -}}
{{- $listen := dict
      "host" "0.0.0.0"
      "port" 8080
      "admin" (dict "host" "127.0.0.1" "port" 9090)
      "probes" (dict "host" "0.0.0.0" "port" 9091)
      "drain" (dict "notice" $notice "grace" "10s") -}}
{{- $filled := dict "version" 1 -}}
{{- if hasKey $given "store" -}}
{{- else if eq (include "coursegate.storeKind" .) "redis" -}}
{{- $_ := set $filled "store" (dict "kind" "redis" "url" (dict "env" "REDIS_URL")) -}}
{{- else -}}
{{- $_ := set $filled "store" (dict "kind" "sqlite" "path" "/var/lib/coursegate/coursegate.db") -}}
{{- end -}}
{{- if and .Values.secret.existingSecret (not (hasKey $given "secret")) -}}
{{- $_ := set $filled "secret" (dict "env" "COURSEGATE_SECRET") -}}
{{- end -}}
{{- if .Values.schools -}}
{{- $_ := set $filled "schools" "./*.yml" -}}
{{- end -}}
{{- if and (not .Values.reload) (not (hasKey $given "reload")) -}}
{{- $_ := set $filled "reload" (dict "watch" false) -}}
{{- end -}}
{{- $all := merge $filled (deepCopy (omit $given "listen" "version")) -}}
{{- $_ := set $all "listen" (mustMergeOverwrite $listen (deepCopy (default (dict) $given.listen))) -}}
{{- toYaml $all -}}
{{- end -}}

{{- /* The origins that the values name, as JSON: that of `config`, or that of each school. */ -}}
{{- define "coursegate.origins" -}}
{{- $origins := list -}}
{{- range prepend (values (default dict .Values.schools)) .Values.config -}}
{{- with .origin -}}{{- $origins = append $origins (tpl . $) -}}{{- end -}}
{{- end -}}
{{- toJson ($origins | uniq | sortAlpha) -}}
{{- end -}}

{{- /* The hosts that lead to the gate, as JSON: those of the origins, and the schools' further addresses. */ -}}
{{- define "coursegate.hosts" -}}
{{- $urls := concat (include "coursegate.origins" . | fromJsonArray) .Values.ingress.addresses -}}
{{- range .Values.schools -}}
{{- $urls = concat $urls (keys (default dict .aliases)) -}}
{{- with .pages -}}{{- with .origin -}}{{- $urls = append $urls . -}}{{- end -}}{{- end -}}
{{- end -}}
{{- $hosts := list -}}
{{- range $urls -}}
{{- $hosts = append $hosts (urlParse (tpl . $)).hostname -}}
{{- end -}}
{{- toJson ($hosts | uniq | sortAlpha) -}}
{{- end -}}

{{- /* The time a pod may take to stop: the backend's, then the gate's, then five seconds of margin. */ -}}
{{- define "coursegate.terminationGracePeriodSeconds" -}}
{{- $drain := (include "coursegate.configuration" . | fromYaml).listen.drain -}}
{{- $gate := add (include "coursegate.seconds" $drain.notice) (include "coursegate.seconds" $drain.grace) 5 -}}
{{- if not (kindIs "invalid" .Values.terminationGracePeriodSeconds) -}}
{{- int .Values.terminationGracePeriodSeconds -}}
{{- else if and (eq .Values.mode "deployment") .Values.backend.container -}}
{{- add $gate .Values.backend.preStopSeconds .Values.backend.terminationSeconds -}}
{{- else -}}
{{- $gate -}}
{{- end -}}
{{- end -}}

{{- /* The settings that the gate cannot reload. When they change, the pods are restarted. */ -}}
{{- define "coursegate.takenAtStart" -}}
{{- $all := include "coursegate.configuration" . | fromYaml -}}
{{- $kept := pick $all "profile" "origin" "store" "secret" -}}
{{- $_ := set $kept "listen" (omit $all.listen "drain") -}}
{{- $_ := set $kept "headers" (dig "limits" "headers" "" $all) -}}
{{- $_ := set $kept "tls" (hasKey (dig "admin" (dict) $all) "mtls") -}}
{{- toYaml $kept -}}
{{- end -}}
