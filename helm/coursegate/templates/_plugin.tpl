{{- /* The port of listen.decisions, where gateways ask. Empty without one, and for a Unix socket. */ -}}
{{- define "coursegate.decisionPort" -}}
{{- $address := dig "decisions" "address" "" (include "coursegate.configuration" . | fromYaml).listen -}}
{{- if not (hasPrefix "unix:" $address) -}}{{ regexFind "[0-9]+$" $address }}{{- end -}}
{{- end -}}

{{- /*
The routes with `forwardedBy: gateway` as a list, in JSON: pattern (with * for every segment that is not fixed), regex (the paths
that an AuthorizationPolicy matches by that pattern, in which a * inside takes only some characters), host and port.
*/ -}}
{{- define "coursegate.pluginRoutes" -}}
{{- $all := tpl (include "coursegate.configuration" .) . | fromYaml -}}
{{- $one := "[A-Za-z0-9._~%!$&'()+,=:@-]" -}}
{{- $found := list -}}
{{- range $all.routes -}}
{{- if eq (default "coursegate" .forwardedBy) "gateway" -}}
{{- $match := splitn " " 2 .match -}}
{{- $pattern := replace "{member.id}" "*" $match._1 -}}
{{- $inner := contains "*" (trimSuffix "/**" $pattern) -}}
{{- $regex := "" -}}
{{- range (splitList "/" (trimPrefix "/" $pattern)) -}}
{{- if eq . "**" -}}{{- $regex = printf "%s(?:/%s)?" $regex (ternary (printf "(?:%s|/)*" $one) ".*" $inner) -}}
{{- else if eq . "*" -}}{{- $regex = printf "%s/%s+" $regex $one -}}
{{- else -}}{{- $regex = printf "%s/%s" $regex (regexQuoteMeta .) -}}
{{- end -}}
{{- end -}}
{{- $url := urlParse (get $all.upstreams .upstream).url -}}
{{- $port := regexFind "[0-9]+$" (trimPrefix $url.hostname $url.host) | default (ternary "443" "80" (eq $url.scheme "https")) -}}
{{- $found = append $found (dict "pattern" $pattern "regex" $regex "host" $url.hostname "port" (int $port)) -}}
{{- end -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}
