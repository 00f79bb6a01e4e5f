{{- /* A duration of the gate's configuration, such as 500ms, 30s or 2m, in whole seconds, rounded up. */ -}}
{{- define "coursegate.seconds" -}}
{{- $number := regexFind "^[0-9]+" . | int64 -}}
{{- $unit := regexReplaceAll "^[0-9]+" . "" -}}
{{- if eq $unit "ms" -}}{{ div (add $number 999) 1000 }}
{{- else -}}{{ mul $number (get (dict "s" 1 "m" 60 "h" 3600 "d" 86400) $unit) }}
{{- end -}}
{{- end -}}

{{- /* Beside its backend in one pod, and native: it is told to stop last, when no balancer sends anything any more. */ -}}
{{- define "coursegate.stopsLast" -}}
{{- if and .Values.sidecar.native (or (ne .Values.mode "deployment") .Values.backend.container) -}}true{{- end -}}
{{- end -}}

{{- define "coursegate.storeKind" -}}
{{- if .Values.config.store -}}{{ .Values.config.store.kind }}
{{- else if .Values.redis.existingSecret -}}redis
{{- else -}}sqlite
{{- end -}}
{{- end -}}

{{- /* Whether there is more than one gate, now or later. */ -}}
{{- define "coursegate.several" -}}
{{- if or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled -}}true{{- end -}}
{{- end -}}

{{- /*
The configuration as the gate reads it: what was given, over what a pod needs. The admin listener stays on loopback; the
kubelet and Prometheus, who come to the pod's address, have a listener of their own that answers nothing else.
A store and a secret are never mixed with ours: theirs or ours.
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
{{- if and (not .Values.reload) (not (hasKey $given "reload")) -}}
{{- $_ := set $filled "reload" (dict "watch" false) -}}
{{- end -}}
{{- $all := merge $filled (deepCopy (omit $given "listen" "version")) -}}
{{- $_ := set $all "listen" (mustMergeOverwrite $listen (deepCopy (default (dict) $given.listen))) -}}
{{- toYaml $all -}}
{{- end -}}

{{- /* What a pod may take to end: its backend's part, then the gate's, then a little. */ -}}
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

{{- /* What the gate takes at its start only: when this changes, the pods are restarted, since a reload would be refused. */ -}}
{{- define "coursegate.takenAtStart" -}}
{{- $all := include "coursegate.configuration" . | fromYaml -}}
{{- $kept := pick $all "profile" "origin" "store" "secret" -}}
{{- $_ := set $kept "listen" (omit $all.listen "drain") -}}
{{- $_ := set $kept "headers" (dig "limits" "headers" "" $all) -}}
{{- $_ := set $kept "tls" (hasKey (dig "admin" (dict) $all) "mtls") -}}
{{- toYaml $kept -}}
{{- end -}}
