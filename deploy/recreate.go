package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// isRefusedChange reports whether the cluster refused the content of a write and named the fields. Then the cluster may
// accept a new object. isRefusedChange returns false if a field of metadata was refused: a new object would lose
// owners, finalizers or annotations that others have set.
func isRefusedChange(err error) bool {
	causes := causesOf(err)
	return len(causes) > 0 && !slices.ContainsFunc(causes, func(cause InvalidField) bool {
		field, _, _ := strings.Cut(cause.Field, ".")
		return field == "" || field == "metadata"
	})
}

// recreate deletes an object that can't be changed, waits until it is gone, and creates it again. It keeps the object
// if the deletion would delete data, or if the cluster wouldn't accept the new object. refusal is the error of the
// refused change. If the object isn't gone in time, the next Apply creates the new one.
func (t *task) recreate(ctx context.Context, live *unstructured.Unstructured, refusal error) Result {
	ref := t.in.ref
	if _, isReadOnly := t.port.Port.(readOnly); isReadOnly { // that it would be recreated is all that is asked
		return Result{Ref: ref, Action: Failed, Object: live, Err: errReadOnly}
	}
	if err := t.checkLoss(ctx, live, refusal); err != nil {
		return Result{Ref: ref, Action: Failed, Object: live, Err: err}
	}
	if err := t.checkSuccessor(ctx, live); err != nil {
		return Result{Ref: ref, Action: Failed, Object: live, Err: keptError(ref, refusal, err)}
	}
	options := DeleteOptions{UID: live.GetUID(), Propagation: t.recreatePropagation(), DryRun: t.dryRun}
	if err := t.port.Delete(ctx, ref, options); err != nil && !is[*NotFoundError](err) {
		return Result{Ref: ref, Action: Failed, Object: live, Err: err}
	}
	if t.dryRun {
		return Result{Ref: ref, Action: Recreated, Object: t.in.object}
	}
	if err := t.awaitDeletion(ctx, ref, live); err != nil {
		return Result{Ref: ref, Action: Removed, Err: err}
	}
	result := t.createInPlaceOf(ctx, live)
	switch {
	case result.Action == Created:
		result.Action = Recreated
	case result.Err != nil:
		result.Err = fmt.Errorf("it was deleted and isn't created again yet: %w", result.Err)
	}
	return result
}

// keptError returns the error for an object that is kept because neither its change nor a new object is accepted.
func keptError(ref Ref, refusal, successor error) error {
	return fmt.Errorf("%s: it is kept, because it can't be changed (%s), and a new one wouldn't be accepted: %w", ref, reason(refusal), successor)
}

// reason returns the text of a refusal without the name of the object.
func reason(refusal error) string {
	if invalid, ok := errors.AsType[*InvalidError](refusal); ok && invalid.Err != nil {
		return invalid.Err.Error()
	}
	return refusal.Error()
}

func (t *task) recreatePropagation() metav1.DeletionPropagation {
	if t.in.strategy == RecreateOrphan {
		return metav1.DeletePropagationOrphan
	}
	return t.propagation
}

var statefulSet = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}

// selectsAlike reports whether two workloads have the same selector. Then one adopts the Pods of the other.
func selectsAlike(a, b *unstructured.Unstructured) bool {
	selector := []any{"spec", "selector"}
	of, _ := valueAt(a.Object, selector)
	other, _ := valueAt(b.Object, selector)
	return sameValue(of, other)
}

// advise adds advice to a refusal. If the cluster would accept a new object, the advice names the strategy that can
// carry out the change.
func (t *task) advise(ctx context.Context, live *unstructured.Unstructured, refusal error) error {
	if !isRefusedChange(refusal) {
		return refusal
	}
	if held := t.heldMembers(t.in.object, live, causesOf(refusal)); held != "" {
		return fmt.Errorf("%w: %s, and this manifest leaves it out: remove the field from the object, or render values that go with it", refusal, held)
	}
	if t.checkSuccessor(ctx, live) != nil {
		return refusal
	}
	strategy, effect := Recreate, "deletes the object and creates it again"
	switch kind := t.in.ref.Kind; {
	case Protected(kind.GroupKind()):
		strategy, effect = RecreateProtected, "deletes the object with what it holds and creates it again"
	case kind.GroupKind() == statefulSet && selectsAlike(t.in.object, live):
		strategy, effect = RecreateOrphan, "creates the object again and leaves its Pods and claims alone"
	}
	return fmt.Errorf("%w: this can't be changed: the strategy %s (annotation %s) %s", refusal, strategy, t.strategyKey(), effect)
}

func (t *task) awaitDeletion(ctx context.Context, ref Ref, live *unstructured.Unstructured) error {
	if t.recreateWait > 0 {
		bounded, cancel := context.WithTimeout(ctx, t.recreateWait)
		defer cancel()
		ctx = bounded
	}
	return t.waitGone(ctx, ref, live)
}

// checkSuccessor returns an error if the cluster wouldn't accept a new object in place of live. It sends a dry run of
// the creation under the same name: the cluster validates everything else before it checks whether the name is taken.
// Conflicts with live itself don't count: ports and addresses of a Service, and the amounts of a quota that live uses.
func (t *task) checkSuccessor(ctx context.Context, live *unstructured.Unstructured) error {
	err := t.tryInPlaceOf(ctx, t.in.object, live)
	if excess, ok := quotaExcessOf(err); ok && t.freesEnough(ctx, live, excess) {
		err = nil
	}
	if err != nil {
		return err
	}
	return t.checkAddresses(ctx, live)
}

// heldAttempts limits how often tryInPlaceOf tries again without values that live still holds. A server may name such
// values one at a time.
const heldAttempts = 4

// tryInPlaceOf returns the error with which the cluster would refuse the creation of obj if live were gone. A refusal
// by a quota is returned even if live uses the quota.
func (t *task) tryInPlaceOf(ctx context.Context, obj, live *unstructured.Unstructured) error {
	err := t.tryCreation(ctx, obj)
	for range heldAttempts {
		occupied := heldByLive(err, obj, live)
		if len(occupied) == 0 {
			break
		}
		obj = obj.DeepCopy()
		for _, path := range occupied {
			removePath(obj.Object, path)
		}
		err = t.tryCreation(ctx, obj)
	}
	return err
}

// tryCreation returns the error with which the cluster would refuse the creation of obj if its name were free.
func (t *task) tryCreation(ctx context.Context, obj *unstructured.Unstructured) error {
	_, err := t.port.Create(ctx, obj, CreateOptions{FieldManager: t.fieldManager, DryRun: true})
	if is[*AlreadyExistsError](err) {
		return nil
	}
	return err
}

// heldByLive returns the paths of values in wanted that err refuses only because live still has them: ports of a
// Service, and globalDefault of a PriorityClass. It returns nothing if err also has another reason.
func heldByLive(err error, wanted, live *unstructured.Unstructured) [][]any {
	switch kind := wanted.GroupVersionKind().GroupKind(); {
	case kind == priorityClass && is[*ForbiddenError](err) &&
		strings.Contains(err.Error(), "PriorityClass "+live.GetName()+" is already marked as default"):
		return [][]any{{"globalDefault"}}
	case kind == serviceKind.GroupKind():
		return portsOfLive(causesOf(err), wanted, live)
	}
	return nil
}

var (
	priorityClass = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}
	serviceKind   = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
)

func portsOfLive(causes []InvalidField, wanted, live *unstructured.Unstructured) [][]any {
	held := allocated(live)
	var paths [][]any
	for _, cause := range causes {
		path := fieldSteps(cause.Field)
		if strings.Contains(cause.Message, "HealthCheck NodePort") { // the message names no field
			path = []any{"spec", "healthCheckNodePort"}
		}
		value, there := valueAt(wanted.Object, path)
		if !strings.Contains(cause.Message, "already allocated") || !there || !containsValue(held, value) {
			return nil
		}
		paths = append(append(paths, path), nodePortsOf(wanted, value)...)
		if cause.Field == "spec.clusterIPs[0]" || cause.Field == "spec.clusterIPs" {
			paths = append(paths, []any{"spec", "clusterIP"}, []any{"spec", "clusterIPs"})
		}
	}
	return paths
}

// nodePortsOf returns the paths of all ports of a Service that have the given node port. Several ports may have the
// same node port, for example a port for TCP and a port for UDP.
func nodePortsOf(service *unstructured.Unstructured, value any) [][]any {
	spec, _ := service.Object["spec"].(map[string]any)
	ports, _ := spec["ports"].([]any)
	var paths [][]any
	for i, item := range ports {
		if port, ok := item.(map[string]any); ok && sameValue(port["nodePort"], value) {
			paths = append(paths, []any{"spec", "ports", i, "nodePort"})
		}
	}
	return paths
}

// allocated returns the values of a Service that no other Service may have.
func allocated(service *unstructured.Unstructured) []any {
	spec, _ := service.Object["spec"].(map[string]any)
	held := append(addresses(service), spec["clusterIPs"], spec["healthCheckNodePort"])
	for _, port := range mapsOf(spec["ports"]) {
		held = append(held, port["nodePort"])
	}
	return slices.DeleteFunc(held, func(value any) bool { return value == nil })
}

// addresses returns the cluster IPs of a Service.
func addresses(service *unstructured.Unstructured) []any {
	spec, _ := service.Object["spec"].(map[string]any)
	list, _ := spec["clusterIPs"].([]any)
	return slices.DeleteFunc(append([]any{spec["clusterIP"]}, list...), func(value any) bool {
		return value == nil || value == "" || value == "None"
	})
}

func containsValue(list []any, value any) bool {
	return slices.ContainsFunc(list, func(have any) bool { return sameValue(value, have) })
}

// checkAddresses returns an error if another Service has an address that the new Service requests. A dry run doesn't
// check this. If checkAddresses isn't allowed to list the Services of all namespaces, it checks the Services in the
// namespace of live.
func (t *task) checkAddresses(ctx context.Context, live *unstructured.Unstructured) error {
	if t.in.ref.Kind.GroupKind() != serviceKind.GroupKind() {
		return nil
	}
	added := slices.DeleteFunc(addresses(t.in.object), func(address any) bool { return containsValue(addresses(live), address) })
	if len(added) == 0 {
		return nil
	}
	services, err := t.port.List(ctx, serviceKind, "", ListOptions{})
	if is[*ForbiddenError](err) {
		services, err = t.port.List(ctx, serviceKind, live.GetNamespace(), ListOptions{})
	}
	for _, service := range services {
		for _, address := range addresses(service) {
			if service.GetUID() != live.GetUID() && containsValue(added, address) {
				return &InvalidError{Ref: t.in.ref, Causes: []InvalidField{{Field: "spec.clusterIP"}},
					Err: fmt.Errorf("spec.clusterIP: %v is used by %s", address, RefOf(service))}
			}
		}
	}
	return err
}
