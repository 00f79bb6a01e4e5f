// Does to a pod what an API server would do with the MutatingAdmissionPolicy of the chart, by the API server's own code:
// compiles its expressions, asks its match conditions, applies its patches.
//
// In: the policy and the pod, as two files of JSON. Out, on stdout: the pod as it would be stored; as it was, when a match
// condition does not hold. Exits 1 with the API server's words when something cannot be compiled or applied. What the
// request must be like (namespace, label, operation) is matched before that, and is not asked here.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	limits "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

func main() {
	pod, err := admitted(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(pod); err != nil {
		panic(err)
	}
}

func admitted(policyFile, podFile string) (runtime.Object, error) {
	var policy admissionregistration.MutatingAdmissionPolicy
	if err := read(policyFile, &policy); err != nil {
		return nil, err
	}
	pod := &core.Pod{}
	if err := read(podFile, pod); err != nil {
		return nil, err
	}
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, err
	}
	matches, err := matched(compiler, &policy, pod)
	if err != nil || !matches {
		return pod, err
	}
	var result runtime.Object = pod
	for index, mutation := range policy.Spec.Mutations {
		if mutation.JSONPatch == nil {
			return nil, fmt.Errorf("mutation %d is no JSONPatch", index)
		}
		condition := &patch.JSONPatchCondition{Expression: mutation.JSONPatch.Expression}
		evaluator := compiler.CompileMutatingEvaluator(condition, cel.OptionalVariableDeclarations{HasAuthorizer: true, HasPatchTypes: true}, environment.NewExpressions)
		if result, err = patch.NewJSONPatcher(evaluator).Patch(context.Background(), patch.Request{
			MatchedResource:     core.SchemeGroupVersion.WithResource("pods"),
			VersionedAttributes: attributes(result),
			ObjectInterfaces:    admission.NewObjectInterfacesFromScheme(scheme()),
		}, limits.RuntimeCELCostBudget); err != nil {
			return nil, fmt.Errorf("mutation %d: %w", index, err)
		}
	}
	return result, nil
}

func matched(compiler *cel.CompositedCompiler, policy *admissionregistration.MutatingAdmissionPolicy, pod runtime.Object) (bool, error) {
	conditions := make([]cel.ExpressionAccessor, len(policy.Spec.MatchConditions))
	for index := range policy.Spec.MatchConditions {
		conditions[index] = (*matchconditions.MatchCondition)(&policy.Spec.MatchConditions[index])
	}
	compiled := compiler.CompileCondition(conditions, cel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.NewExpressions)
	result := matchconditions.NewMatcher(compiled, policy.Spec.FailurePolicy, "policy", "mutate", policy.Name).
		Match(context.Background(), attributes(pod), nil, nil)
	return result.Matches, result.Error
}

func attributes(pod runtime.Object) *admission.VersionedAttributes {
	kind := core.SchemeGroupVersion.WithKind("Pod")
	record := admission.NewAttributesRecord(pod, nil, kind, "default", "school", core.SchemeGroupVersion.WithResource("pods"),
		"", admission.Create, &meta.CreateOptions{}, false, nil)
	return &admission.VersionedAttributes{Attributes: record, VersionedKind: kind, VersionedObject: pod}
}

func scheme() *runtime.Scheme {
	known := runtime.NewScheme()
	if err := core.AddToScheme(known); err != nil {
		panic(err)
	}
	return known
}

func read(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
