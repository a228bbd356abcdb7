package explore

import (
	"fmt"
	"slices"

	"github.com/operkit/operkit/reconcile/desired"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// shelves returns the controller of shops with a shelf for each unit of their size. respond completes the response.
func shelves(respond func(r desired.Request[unstructured.Unstructured], response *desired.Response)) *desired.Controller[unstructured.Unstructured] {
	sync := func(r desired.Request[unstructured.Unstructured]) (response desired.Response, err error) {
		for i := range sizeOf(r.Parent) {
			response.Children = append(response.Children, object("{apiVersion: v1, kind: ConfigMap, metadata: {name: shelf-%d}}", i))
		}
		respond(r, &response)
		return response, nil
	}
	return desired.New(shopKind, desired.Funcs[unstructured.Unstructured]{OnSync: sync},
		desired.Child(kindOf("ConfigMap"), desired.InPlace), desired.Child(kindOf("Deployment"), desired.InPlace))
}

// keeping returns all children that it finds beside those that are wanted, so that none is ever removed:
// https://github.com/cloudfoundry-incubator/quarks-operator/issues/1023
func keeping(sound bool) *desired.Controller[unstructured.Unstructured] {
	return shelves(func(r desired.Request[unstructured.Unstructured], response *desired.Response) {
		for _, shelf := range r.Children.Of(kindOf("ConfigMap")) {
			var number int64
			_, _ = fmt.Sscanf(shelf.GetName(), "shelf-%d", &number) // only its own names occur
			if number >= sizeOf(r.Parent) && !sound {
				response.Children = append(response.Children, shelf)
			}
		}
	})
}

// unordered lists its children in the status in another order each time, as the order of a map:
// https://github.com/RedHatInsights/clowder/pull/148
func unordered(sound bool) *desired.Controller[unstructured.Unstructured] {
	var calls int
	return shelves(func(r desired.Request[unstructured.Unstructured], response *desired.Response) {
		calls++
		names := []any{}
		for _, shelf := range r.Children.Of(kindOf("ConfigMap")) {
			names = append(names, shelf.GetName())
		}
		if calls%2 == 0 && !sound {
			slices.Reverse(names)
		}
		response.Status = map[string]any{"shelves": names}
	})
}

// hasty is Ready whatever its Deployment does: https://github.com/shipwright-io/operator/issues/50
func hasty(sound bool) *desired.Controller[unstructured.Unstructured] {
	return shelves(func(r desired.Request[unstructured.Unstructured], response *desired.Response) {
		response.Children = append(response.Children, object(till))
		ready := "True"
		if sound && !serves(r.Children.Get(kindOf("Deployment"), "till")) {
			ready = "False"
		}
		response.Status = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": ready, "reason": "Made", "message": ""}}}
	})
}
