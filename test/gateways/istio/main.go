// Writes what Istio sends its ingress gateway, as the configuration of one Envoy without a control plane.
//
//	istio CONFIGS MESH PORT WRITTEN
//
// CONFIGS has Istio's objects, MESH a values file of the istiod chart. Left out are the filters that only Istio's own
// build of Envoy has: they count, and negotiate protocols.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	bootstrap "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	envoycore "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listener "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcm "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/anypb"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/pkg/networking/core"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/test"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(configs, values, port, written string) error {
	objects, err := os.ReadFile(configs)
	if err != nil {
		return err
	}
	meshConfig, err := meshOf(values)
	if err != nil {
		return err
	}
	options, err := mesh.ApplyMeshConfigDefaults(meshConfig)
	if err != nil {
		return err
	}
	number, err := strconv.ParseUint(port, 10, 32)
	if err != nil {
		return err
	}
	return test.Wrap(func(t test.Failer) {
		istiod := core.NewConfigGenTest(t, core.TestOptions{ConfigString: string(objects), MeshConfig: options})
		labels := map[string]string{"istio": "ingressgateway"}
		gateway := istiod.SetupProxy(&model.Proxy{
			Type: model.Router, ID: "ingress.istio-system", ConfigNamespace: "istio-system", Labels: labels,
			Metadata: &model.NodeMetadata{Namespace: "istio-system", Labels: labels},
		})
		listeners := istiod.Listeners(gateway)
		static := &bootstrap.Bootstrap_StaticResources{Clusters: plain(istiod.Clusters(gateway))}
		for _, one := range listeners {
			if one.GetAddress().GetSocketAddress().GetPortValue() == uint32(number) {
				static.Listeners = append(static.Listeners, complete(t, one, istiod.RoutesFromListeners(gateway, listeners)))
			}
		}
		printed, err := protojson.Marshal(&bootstrap.Bootstrap{
			Node: &envoycore.Node{Id: "ingress", Cluster: "ingress"}, StaticResources: static,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(written, printed, 0o600); err != nil {
			t.Fatal(err)
		}
	})
}

func meshOf(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var values struct {
		MeshConfig map[string]any `json:"meshConfig"`
	}
	if err := yaml.Unmarshal(text, &values); err != nil {
		return "", err
	}
	inner, err := yaml.Marshal(values.MeshConfig)
	return string(inner), err
}

// complete has the routes of a listener in place of the name that Envoy would ask for them by.
func complete(t test.Failer, one *listener.Listener, routes []*route.RouteConfiguration) *listener.Listener {
	one.GetAddress().GetSocketAddress().Address = "127.0.0.1"
	one.AdditionalAddresses = nil
	for _, chain := range append(one.FilterChains, one.DefaultFilterChain) {
		for _, filter := range chain.GetFilters() {
			manager := &hcm.HttpConnectionManager{}
			if filter.GetTypedConfig().UnmarshalTo(manager) != nil {
				continue
			}
			for _, config := range routes {
				if config.Name == manager.GetRds().GetRouteConfigName() {
					manager.RouteSpecifier = &hcm.HttpConnectionManager_RouteConfig{RouteConfig: config}
				}
			}
			var kept []*hcm.HttpFilter
			for _, one := range manager.HttpFilters {
				if !strings.HasPrefix(one.Name, "istio") {
					kept = append(kept, one)
				}
			}
			manager.HttpFilters = kept
			packed, err := anypb.New(manager)
			if err != nil {
				t.Fatal(err)
			}
			filter.ConfigType = &listener.Filter_TypedConfig{TypedConfig: packed}
		}
	}
	return one
}

func plain(clusters []*cluster.Cluster) []*cluster.Cluster {
	var kept []*cluster.Cluster
	for _, one := range clusters {
		one.Filters = nil
		one.TransportSocketMatches = nil
		if one.GetType() == cluster.Cluster_STRICT_DNS {
			kept = append(kept, one)
		}
	}
	return kept
}
