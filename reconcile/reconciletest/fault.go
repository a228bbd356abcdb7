package reconciletest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/patching"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Phase is a part of a reconcile in which something can be made to fail.
type Phase string

// The phases. In its phase a fault makes the first read or write of an object of the component fail. If a Builder
// doesn't read or write its objects in a phase, for example because it has its own Verify, it can't be made to fail in
// that phase.
const (
	// Setup fails before the controller's Setup is called. It has no component.
	Setup Phase = "setup"
	// Deploy is while the objects of a component are applied, or deleted because it is disabled or no longer added.
	Deploy Phase = "deploy"
	// Verify is while the readiness of the objects of a deployed component is checked.
	Verify Phase = "verify"
	// Finalize is while the resource is being deleted, for objects that are removed and components that Finalize rolls
	// out.
	Finalize Phase = "finalize"
)

// Fault is an injected error. Its methods must not be called during a run.
type Fault struct {
	faults    *faults
	component string
	object    string
	phase     Phase
	err       error

	// skip is the number of reconciles that must still succeed before the fault happens. left is the number of
	// reconciles in which the fault must still happen, negative for no limit. met is the number of reconciles in which
	// the fault has happened.
	skip, left int
	met        int
	// decided: it was decided whether the fault happens in the current reconcile. inTurn: it happens. skipped: it
	// doesn't happen, because of skip.
	inTurn, decided, skipped bool
}

// After lets the first n reconciles succeed: the fault happens from the next reconcile on.
func (f *Fault) After(n int) *Fault {
	f.faults.mu.Lock()
	defer f.faults.mu.Unlock()
	f.skip = n
	return f
}

// Times limits the fault to n reconciles.
func (f *Fault) Times(n int) *Fault {
	f.faults.mu.Lock()
	defer f.faults.mu.Unlock()
	f.left = n
	return f
}

// Heal ends the fault.
func (f *Fault) Heal() { f.Times(0) }

// Met returns the number of reconciles in which the fault happened.
func (f *Fault) Met() int {
	f.faults.mu.Lock()
	defer f.faults.mu.Unlock()
	return f.met
}

// Fail makes every reconcile fail with err in a phase of a component, until Heal is called. component is the name of a
// component, of any resource. It can also be the name of an object, "<component>.<object>", so that the objects before
// that object are applied. For the phase Setup it is empty. err has its usual meaning: request.Precondition means to
// wait, and an error of package deploy is an error of the cluster. A fault that never happens fails the test.
//
// To let the cluster refuse requests, use Memory().Fail.
func (h *Harness) Fail(component string, phase Phase, err error) *Fault {
	h.t.Helper()
	f := &Fault{faults: h.faults, phase: phase, err: err, left: -1}
	f.component, f.object, _ = strings.Cut(component, ".")
	if err := cmp.Or(h.checkSessions(), f.check()); err != nil {
		h.t.Fatalf("reconciletest: fail %q in %q: %v", component, phase, err)
	}
	h.faults.add(f)
	h.t.Cleanup(func() {
		h.t.Helper()
		if f.Met() == 0 && !h.t.Failed() {
			h.t.Errorf("fail %q in %s: this never happened; the components were: %s", component, phase, h.faults.known())
		}
	})
	return f
}

// FailOnce is Fail for one reconcile.
func (h *Harness) FailOnce(component string, phase Phase, err error) *Fault {
	h.t.Helper()
	return h.Fail(component, phase, err).Times(1)
}

func (f *Fault) check() error {
	switch {
	case f.err == nil:
		return errors.New("nil error")
	case f.phase == Setup && f.component != "":
		return errors.New("this phase has no component: leave the name empty")
	case f.phase == Setup:
		return nil
	case f.phase != Deploy && f.phase != Verify && f.phase != Finalize:
		return errors.New("unknown phase (want Setup, Deploy, Verify or Finalize)")
	case f.component == "":
		return errors.New("the component has no name")
	}
	return nil
}

// faults are the faults of a harness, with the state that decides when they happen: the component of each object, and
// the progress of the current reconcile.
type faults struct {
	mu       sync.Mutex
	injected []*Fault
	// members are the objects of components, of the current resource and of resources that were reconciled earlier.
	members map[deploy.Ref]member
	// of the reconcile under way:
	resource deploy.Ref
	deleting bool
	rendered map[deploy.Ref]bool
	deployed map[string]bool
}

type member struct{ component, object string }

func newFaults() *faults { return &faults{members: map[deploy.Ref]member{}} }

func (f *faults) add(fault *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.injected = append(f.injected, fault)
}

func (f *faults) begin(resource deploy.Ref, deleting bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resource, f.deleting = resource, deleting
	f.rendered, f.deployed = map[deploy.Ref]bool{}, map[string]bool{}
	for _, fault := range f.injected {
		fault.inTurn, fault.decided, fault.skipped = false, false, false
	}
}

// end ends the current reconcile. It reports whether a fault with a limit happened, or After skipped a fault: then the
// next reconcile may end differently.
func (f *faults) end() (moved bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range f.injected {
		moved = moved || fault.inTurn && fault.left >= 0 || fault.skipped
	}
	f.resource, f.rendered, f.deployed = deploy.Ref{}, nil, nil
	return moved
}

// meet returns the injected error for a read or write of an object, nil if there is none.
func (f *faults) meet(ref deploy.Ref) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.place(ref)
	m, ok := f.members[at]
	if !ok || f.rendered == nil || !f.deleting && !f.rendered[at] {
		return nil
	}
	phase := Deploy
	switch {
	case f.deleting:
		phase = Finalize
	case f.deployed[m.component]:
		phase = Verify
	}
	return f.failure(m, phase)
}

// meetRemoval returns the injected error for the deletion of an object. Objects of a component that is no longer added
// aren't rendered; their component is known from an earlier deployment.
func (f *faults) meetRemoval(ref deploy.Ref) error {
	if err := f.meet(ref); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.place(ref)
	m, ok := f.members[at]
	if !ok || f.rendered == nil || f.deleting || f.rendered[at] || f.deployed[m.component] {
		return nil
	}
	return f.failure(m, Deploy)
}

// failure returns the injected error for an object in a phase. The caller holds the lock.
func (f *faults) failure(m member, phase Phase) error {
	for _, fault := range f.injected {
		if fault.phase == phase && fault.component == m.component && (fault.object == "" || fault.object == m.object) && fault.happens() {
			return fault.err
		}
	}
	return nil
}

// happens decides once per reconcile whether the fault happens. The caller holds the lock.
func (f *Fault) happens() bool {
	if f.decided {
		return f.inTurn
	}
	f.decided = true
	switch {
	case f.left == 0:
		return false
	case f.skip > 0:
		f.skip--
		f.skipped = true
		return false
	case f.left > 0:
		f.left--
	}
	f.met++
	f.inTurn = true
	return true
}

// place returns ref as a key of members: without the version, and with the default namespace if ref has none.
func (f *faults) place(ref deploy.Ref) deploy.Ref {
	ref.Kind = schema.GroupVersionKind{Group: ref.Kind.Group, Kind: ref.Kind.Kind}
	if ref.Namespace == "" {
		ref.Namespace = f.resource.Namespace
	}
	return ref
}

func (f *faults) known() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for _, m := range f.members {
		names = append(names, m.component+"."+m.object)
	}
	return joined(names)
}

// observer records that a component was deployed.
func (f *faults) observer(c *reconcile.Component, _ deploy.Results) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deployed[c.Name()] = true
}

// recorder is a Patcher that changes nothing: it records the objects of components.
type recorder struct{ *faults }

// Patches implements patching.Patcher.
func (s recorder) Patches(context.Context, patching.Target) ([]patching.Patch, error) {
	if err := s.atSetup(); err != nil {
		return nil, err
	}
	return []patching.Patch{recording(s)}, nil
}

func (f *faults) atSetup() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range f.injected {
		if fault.phase == Setup && fault.happens() {
			return fmt.Errorf("setup: %w", fault.err)
		}
	}
	return nil
}

type recording recorder

// Name implements patching.Patch.
func (s recording) Name() string { return "reconciletest" }

// Apply implements patching.Patch.
func (s recording) Apply(_ context.Context, component, object string, content map[string]any) (map[string]any, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.place(deploy.RefOf(&unstructured.Unstructured{Object: content}))
	s.members[at] = member{component, object}
	if s.rendered != nil {
		s.rendered[at] = true
	}
	return nil, false, nil
}
