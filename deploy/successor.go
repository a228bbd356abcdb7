package deploy

import (
	"context"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// checkSuccessor returns why the cluster wouldn't accept the object if it was created again in the place of live, nil if
// it would. It asks by a dry-run creation under the same name: everything is checked before the cluster finds that the
// name is taken. What live itself occupies doesn't count: ports and addresses of a Service, and its share of a quota.
func (t *task) checkSuccessor(ctx context.Context, live *unstructured.Unstructured) error {
	err := t.tryInPlaceOf(ctx, t.in.object, live)
	if excess, ok := quotaExcessOf(err); ok && t.freesEnough(ctx, live, excess) {
		return nil
	}
	return err
}

// tryInPlaceOf asks whether obj could be created if live was gone, except for what a quota says. nil: it could.
func (t *task) tryInPlaceOf(ctx context.Context, obj, live *unstructured.Unstructured) error {
	err := t.tryCreation(ctx, obj)
	occupied := heldByLive(err, obj, live)
	if len(occupied) == 0 {
		return err
	}
	next := obj.DeepCopy()
	for _, path := range occupied {
		removePath(next.Object, path)
	}
	return t.tryCreation(ctx, next)
}

// tryCreation asks whether obj could be created if nothing had its name.
func (t *task) tryCreation(ctx context.Context, obj *unstructured.Unstructured) error {
	_, err := t.port.Create(ctx, obj, CreateOptions{FieldManager: t.fieldManager, DryRun: true})
	var exists *AlreadyExistsError
	if errors.As(err, &exists) {
		return nil
	}
	return err
}

// heldByLive returns the paths of ports and addresses for which a creation was refused because live has them. A Service
// is the only kind whose values the API server allocates.
func heldByLive(err error, wanted, live *unstructured.Unstructured) [][]any {
	var invalid *InvalidError
	kind := wanted.GroupVersionKind()
	if kind.Group != "" || kind.Kind != "Service" || !errors.As(err, &invalid) {
		return nil
	}
	held := allocated(live)
	var paths [][]any
	for _, cause := range invalid.Causes {
		path := fieldSteps(cause.Field)
		value, there := valueAt(wanted.Object, path)
		if !strings.Contains(cause.Message, "already allocated") || !there ||
			!slices.ContainsFunc(held, func(have any) bool { return sameValue(value, have) }) {
			return nil
		}
		paths = append(paths, path)
		if cause.Field == "spec.clusterIPs[0]" || cause.Field == "spec.clusterIPs" {
			paths = append(paths, []any{"spec", "clusterIP"}, []any{"spec", "clusterIPs"})
		}
	}
	return paths
}

// allocated are the values of a Service that no other one can have.
func allocated(service *unstructured.Unstructured) []any {
	spec, _ := service.Object["spec"].(map[string]any)
	addresses, _ := spec["clusterIPs"].([]any)
	held := append([]any{spec["clusterIP"], spec["clusterIPs"], spec["healthCheckNodePort"]}, addresses...)
	ports, _ := spec["ports"].([]any)
	for _, item := range ports {
		if port, ok := item.(map[string]any); ok {
			held = append(held, port["nodePort"])
		}
	}
	return slices.DeleteFunc(held, func(value any) bool { return value == nil })
}
