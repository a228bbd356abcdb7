package reconciletest

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/plain"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// simulatorName is the field manager of the simulator.
const simulatorName = "reconciletest-simulator"

// simulator does what the controllers of a real cluster do, as far as readiness depends on their work.
type simulator struct {
	*Harness

	mu sync.Mutex
	// held are the objects given to Hold. broken are the objects given to Break, with their messages.
	held   []name
	broken []breakage
	// addresses counts the IP addresses that were assigned.
	addresses int
}

type breakage struct {
	name
	message string
}

func newSimulator(h *Harness) *simulator { return &simulator{Harness: h} }

// Hold stops the simulator from changing objects, which needn't exist yet. Existing objects stay as they are, and new
// objects don't become ready. The simulator knows Deployment, StatefulSet, DaemonSet, ReplicaSet, Job, Pod, Service and
// PersistentVolumeClaim, and the kinds of Simulate; it creates no Pods.
func (h *Harness) Hold(objects ...string) {
	h.t.Helper()
	h.onlyInMemory("Hold")
	h.simulator.mu.Lock()
	defer h.simulator.mu.Unlock()
	for _, object := range objects {
		h.simulator.held = append(h.simulator.held, h.named(object))
	}
}

// Break makes an object, which needn't exist yet, fail permanently, and sets the status that its controller would set:
// a Deployment makes no progress, a Job or a Pod fails, the volume of a PersistentVolumeClaim is lost. The status gets
// message, if the kind has a field for it. Objects of other kinds never report a failure: use Hold.
func (h *Harness) Break(object, message string) {
	h.t.Helper()
	h.onlyInMemory("Break")
	n := h.named(object)
	if failures[n.kind] == nil {
		h.t.Fatalf("reconciletest: break %s: objects of this kind never report a failure: use Hold", object)
	}
	h.simulator.mu.Lock()
	defer h.simulator.mu.Unlock()
	h.simulator.broken = append(h.simulator.broken, breakage{n, message})
}

// Release ends Hold and Break for objects; without arguments, for all objects.
func (h *Harness) Release(objects ...string) {
	h.t.Helper()
	h.onlyInMemory("Release")
	s := h.simulator
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(objects) == 0 {
		s.held, s.broken = nil, nil
	}
	for _, object := range objects {
		if !s.release(h.named(object)) {
			h.t.Fatalf("reconciletest: release %s: it was neither held nor broken", object)
		}
	}
}

// release reports whether n was held or broken. The caller holds the lock.
func (s *simulator) release(n name) (found bool) {
	before := len(s.held) + len(s.broken)
	s.held = slices.DeleteFunc(s.held, func(other name) bool { return other == n })
	s.broken = slices.DeleteFunc(s.broken, func(other breakage) bool { return other.name == n })
	return len(s.held)+len(s.broken) < before
}

func (h *Harness) named(object string) name {
	h.t.Helper()
	n, err := parseName(object)
	if err == nil && n.sub != "" {
		err = fmt.Errorf("%q: names a subresource, but an object is needed", object)
	}
	if err != nil {
		h.t.Fatalf("reconciletest: %v", err)
	}
	return n
}

// controlled returns whether an object is held or broken.
func (s *simulator) controlled(ref deploy.Ref) (held bool, broken *breakage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.held {
		held = held || n.means(ref, s.options.namespace)
	}
	for i := range s.broken {
		if s.broken[i].means(ref, s.options.namespace) {
			broken = &s.broken[i]
		}
	}
	return held, broken
}

// act does one step for every object, and reports whether it changed an object.
func (s *simulator) act(ctx context.Context) (acted bool, err error) {
	for _, obj := range s.memory.Objects() {
		done, err := s.actOn(ctx, obj)
		if err != nil {
			return acted, err
		}
		acted = acted || done
	}
	return acted, nil
}

func (s *simulator) actOn(ctx context.Context, obj *unstructured.Unstructured) (bool, error) {
	ref := deploy.RefOf(obj)
	held, broken := s.controlled(ref)
	if held || obj.GetDeletionTimestamp() != nil {
		return false, nil
	}
	if spec := s.address(obj); spec != nil {
		return true, s.patch(ctx, ref, "spec", spec, simulatorName)
	}
	want := s.statusOf(obj, broken)
	have, _ := obj.Object["status"].(map[string]any)
	if want == nil || includes(have, want) {
		return false, nil
	}
	if err := s.patch(ctx, ref, "status", s.timed(have, want), simulatorName); err != nil {
		return false, err
	}
	live, err := s.memory.View().Get(ctx, ref)
	return err == nil && live != nil && live.GetResourceVersion() != obj.GetResourceVersion(), err
}

func (s *simulator) statusOf(obj *unstructured.Unstructured, broken *breakage) map[string]any {
	kind := obj.GroupVersionKind().GroupKind()
	if simulation := s.options.simulations[kind]; simulation != nil && broken == nil {
		want, err := plain.Map(simulation(obj))
		if err != nil {
			s.t.Fatalf("reconciletest: simulate %s: %v", kind, err)
		}
		return want
	}
	work, ok := workloads[kind]
	if !ok {
		return nil
	}
	if broken != nil {
		return failures[kind.Kind](obj, broken.message)
	}
	return work(s, obj)
}

// timed sets lastTransitionTime in the conditions of want. The time of a condition changes only when its status
// changes.
func (s *simulator) timed(have, want map[string]any) map[string]any {
	conditions, ok := want["conditions"].([]any)
	if !ok {
		return want
	}
	before := map[any]map[string]any{}
	present, _ := have["conditions"].([]any)
	for _, entry := range present {
		if condition, ok := entry.(map[string]any); ok {
			before[condition["type"]] = condition
		}
	}
	conditions = slices.Clone(conditions)
	for i, entry := range conditions {
		condition, ok := entry.(map[string]any)
		if !ok {
			continue
		}
		timed := map[string]any{"lastTransitionTime": s.clock.now().UTC().Format("2006-01-02T15:04:05Z")}
		if old := before[condition["type"]]; old != nil && old["status"] == condition["status"] && old["lastTransitionTime"] != nil {
			timed["lastTransitionTime"] = old["lastTransitionTime"]
		}
		maps.Copy(timed, condition)
		conditions[i] = timed
	}
	want = maps.Clone(want)
	want["conditions"] = conditions
	return want
}

// includes reports whether have contains everything in want; null in want means an absent value.
func includes(have, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		h, _ := have.(map[string]any)
		for field, value := range w {
			if !includes(h[field], value) {
				return false
			}
		}
		return true
	case []any:
		h, _ := have.([]any)
		return slices.EqualFunc(h, w, includes)
	}
	return reflect.DeepEqual(have, want)
}

// admit assigns a cluster IP to a new Service, as a server does.
func (s *simulator) admit(request dryrun.AdmissionRequest, live, next *unstructured.Unstructured) error {
	if held, _ := s.controlled(request.Ref); live != nil || held || request.Subresource != "" {
		return nil
	}
	spec := s.address(next)
	for field, value := range spec {
		if err := unstructured.SetNestedField(next.Object, value, "spec", field); err != nil {
			return err
		}
	}
	return nil
}

// address returns the address that a Service without a cluster IP gets, nil for other objects.
func (s *simulator) address(obj *unstructured.Unstructured) map[string]any {
	if kind := obj.GroupVersionKind(); kind.Group != "" || kind.Kind != "Service" {
		return nil
	}
	spec, _ := obj.Object["spec"].(map[string]any)
	given, _ := spec["clusterIP"].(string)
	if given != "" || spec["type"] == "ExternalName" {
		return nil
	}
	address := "10.96." + s.nextAddress()
	return map[string]any{"clusterIP": address, "clusterIPs": []any{address}}
}

func (s *simulator) nextAddress() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addresses++
	return fmt.Sprintf("%d.%d", s.addresses/250%250, s.addresses%250+1)
}
