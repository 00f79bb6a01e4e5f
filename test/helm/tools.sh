#!/usr/bin/env bash
# What the tests of the chart need: helm, kubeconform, the schemas of Kubernetes and of the operators' kinds, and the API
# server's own admission code (admission/main.go). Everything comes as Go modules, which go.sum and the checksum database
# hold to what they were. Made once, kept in the folder that COURSEGATE_CHART_TOOLS names, or ~/.cache/coursegate-chart-tools.
# Needs Go 1.26 and Node 24.
set -euo pipefail

HELM=v3.21.4
KUBECONFORM=v0.8.0
KUBERNETES=v1.36.2
PROMETHEUS_OPERATOR=v0.85.0
GATEWAY_API=v1.4.0
ISTIO_API=v1.24.2

here=$(cd "$(dirname "$0")" && pwd)
tools=${COURSEGATE_CHART_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/coursegate-chart-tools}
made=$(cat "$0" "$here/kubernetes-schemas.ts" "$here"/admission/{main.go,go.mod,go.sum} | sha256sum)
if [ "$(cat "$tools/made" 2>/dev/null)" = "$made" ]; then exit 0; fi

command -v go >/dev/null || PATH=$PATH:/usr/local/go/bin
command -v go >/dev/null || { echo "tools.sh: no go found: the tools of the chart's tests are built with Go 1.26 (https://go.dev/dl)" >&2; exit 69; }
command -v node >/dev/null || { echo "tools.sh: no node found: run npm ci, and put node_modules/.bin on PATH" >&2; exit 69; }
export GOBIN=$tools/bin
mkdir -p "$GOBIN"
rm -f "$tools/made"

echo "tools.sh: building helm $HELM, kubeconform $KUBECONFORM and the admission of Kubernetes $KUBERNETES in $tools" >&2
go install "helm.sh/helm/v3/cmd/helm@$HELM"
go install "github.com/yannh/kubeconform/cmd/kubeconform@$KUBECONFORM"
go -C "$here/admission" build -buildvcs=false -o "$GOBIN/admission" .

folder() { go mod download -json "$1" | node -p 'JSON.parse(require("fs").readFileSync(0, "utf8")).Dir'; }
operator=$(folder "github.com/prometheus-operator/prometheus-operator@$PROMETHEUS_OPERATOR")/example/prometheus-operator-crd
gateway=$(folder "sigs.k8s.io/gateway-api@$GATEWAY_API")/config/crd/standard
istio=$(folder "istio.io/api@$ISTIO_API")/kubernetes
rm -rf "$tools/schemas"
node "$here/kubernetes-schemas.ts" "$tools/schemas" \
  "$(folder "k8s.io/kubernetes@$KUBERNETES")/api/openapi-spec/swagger.json" \
  "$operator"/monitoring.coreos.com_{servicemonitors,prometheusrules}.yaml \
  "$gateway"/gateway.networking.k8s.io_httproutes.yaml \
  "$istio/customresourcedefinitions.gen.yaml"
echo "$made" > "$tools/made"
