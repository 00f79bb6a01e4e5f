{{- /* The port of an address of listen.decisions, HOST:PORT. Empty without one, and for a Unix socket. */ -}}
{{- define "coursegate.portOf" -}}
{{- if and . (not (hasPrefix "unix:" .)) -}}{{ regexFind "[0-9]+$" . }}{{- end -}}
{{- end -}}

{{- /* The ports of the decision listeners as a list of name, port and appProtocol, in JSON. */ -}}
{{- define "coursegate.decisionPorts" -}}
{{- $decisions := dig "decisions" (dict) (include "coursegate.configuration" . | fromYaml).listen -}}
{{- $found := list -}}
{{- with include "coursegate.portOf" (get $decisions "address") -}}
{{- $found = append $found (dict "name" "http-decisions" "port" (int .) "appProtocol" "http") -}}
{{- end -}}
{{- with include "coursegate.portOf" (get $decisions "grpc") -}}
{{- $found = append $found (dict "name" "grpc-decisions" "port" (int .) "appProtocol" "kubernetes.io/h2c") -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{- /*
The routes with `forwardedBy: gateway` as a list, in JSON: methods (empty: all), pattern (with * for every segment that is not
fixed), regex (what the gate admits, in characters that no gateway takes for others), host, service, namespace and port.
*/ -}}
{{- define "coursegate.pluginRoutes" -}}
{{- $all := tpl (include "coursegate.configuration" .) . | fromYaml -}}
{{- $plain := "[A-Za-z0-9._~%!$&'()+,:@-]" -}}
{{- $found := list -}}
{{- range $all.routes -}}
{{- if eq (default "coursegate" .forwardedBy) "gateway" -}}
{{- $match := splitn " " 2 .match -}}
{{- $pattern := replace "{member.id}" "*" $match._1 -}}
{{- $regex := "" -}}
{{- range (splitList "/" (trimPrefix "/" $pattern)) -}}
{{- if eq . "**" -}}{{- $regex = printf "%s(?:/(?:%s|/)*)?" $regex $plain -}}
{{- else if eq . "*" -}}{{- $regex = printf "%s/%s+" $regex $plain -}}
{{- else -}}{{- $regex = printf "%s/%s" $regex (regexQuoteMeta .) -}}
{{- end -}}
{{- end -}}
{{- $methods := ternary (list) (splitList "|" $match._0) (eq $match._0 "*") -}}
{{- if and (has "GET" $methods) (not (has "HEAD" $methods)) -}}{{- $methods = append $methods "HEAD" -}}{{- end -}}
{{- $url := urlParse (get $all.upstreams .upstream).url -}}
{{- $labels := splitList "." $url.hostname -}}
{{- $port := regexFind "[0-9]+$" (trimPrefix $url.hostname $url.host) | default (ternary "443" "80" (eq $url.scheme "https")) -}}
{{- $namespace := ternary (index (append $labels "") 1) $.Release.Namespace (gt (len $labels) 1) -}}
{{- $found = append $found (dict "methods" $methods "pattern" $pattern "regex" $regex "host" $url.hostname "service" (first $labels) "namespace" $namespace "port" (int $port)) -}}
{{- end -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}
