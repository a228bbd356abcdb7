package reconciletest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Phase is a part of a reconcile in which something can be made to fail.
type Phase string

// The phases. A component fails in a phase where one of its objects is first read or written there. A Builder that
// touches none of them in a phase, such as one with a Verify of its own, can't be made to fail in it.
const (
	// Setup is before the controller's Setup, without a component.
	Setup Phase = "setup"
	// Deploy is when the objects of a component are applied, or deleted if it is disabled or no longer added.
	Deploy Phase = "deploy"
	// Verify is when the readiness of the objects of a deployed component is checked.
	Verify Phase = "verify"
	// Finalize is while the resource is being deleted, for objects that are removed and components that Finalize rolls
	// out.
	Finalize Phase = "finalize"
)

// Fault is an injected error. Its methods may be called while nothing runs.
type Fault struct {
	faults    *faults
	component string
	object    string
	phase     Phase
	err       error

	// pass is how many reconciles it still spares, left how often it happens then, less than 0: for ever.
	pass, left int
	met        int
	// inTurn: it happens in the reconcile under way, once that is decided. passed: that was spared.
	inTurn, decided, passed bool
}

// After spares the first n reconciles.
func (f *Fault) After(n int) *Fault {
	f.faults.mu.Lock()
	defer f.faults.mu.Unlock()
	f.pass = n
	return f
}

// Times limits it to n reconciles.
func (f *Fault) Times(n int) *Fault {
	f.faults.mu.Lock()
	defer f.faults.mu.Unlock()
	f.left = n
	return f
}

// Heal ends it.
func (f *Fault) Heal() { f.Times(0) }

// Met returns in how many reconciles it happened.
func (f *Fault) Met() int {
	f.faults.mu.Lock()
	defer f.faults.mu.Unlock()
	return f.met
}

// Fail has every reconcile fail with err in a phase of a component, until it is healed. component is the name of one,
// whatever the resource, or that of one of its objects, "<component>.<object>", to have those before it applied; it is
// empty for the phase Setup. err counts as what it is: request.Precondition says to wait, an error of package deploy
// is the cluster's. One that is never met in the whole test fails it.
//
// To have requests fail as a cluster would, use Memory and its Fail.
func (h *Harness) Fail(component string, phase Phase, err error) *Fault {
	h.t.Helper()
	f := &Fault{faults: h.faults, phase: phase, err: err, left: -1}
	f.component, f.object, _ = strings.Cut(component, ".")
	if err := f.check(); err != nil {
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
		return errors.New("there is no such phase: Setup, Deploy, Verify and Finalize are")
	case f.component == "":
		return errors.New("the component has no name")
	}
	return nil
}

// faults are the faults of a harness, with what decides when they happen: the component of each object, and how far the
// reconcile under way is.
type faults struct {
	mu       sync.Mutex
	injected []*Fault
	// members are the objects of components, of the resource under way and of earlier ones.
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
		fault.inTurn, fault.decided, fault.passed = false, false, false
	}
}

// end reports whether a limited fault happened or was spared, so that the next reconcile may go another way.
func (f *faults) end() (moved bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range f.injected {
		moved = moved || fault.inTurn && fault.left >= 0 || fault.passed
	}
	f.resource, f.rendered, f.deployed = deploy.Ref{}, nil, nil
	return moved
}

// meet returns the error of touching an object, nil if there is none.
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

// meetRemoval returns the error of deleting an object. Objects of a component that is no longer added aren't rendered;
// their component is known from an earlier deployment.
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

// failure returns the error of an object in a phase. The lock is held.
func (f *faults) failure(m member, phase Phase) error {
	for _, fault := range f.injected {
		if fault.phase == phase && fault.component == m.component && (fault.object == "" || fault.object == m.object) && fault.happens() {
			return fault.err
		}
	}
	return nil
}

// happens decides once for each reconcile. The lock is held.
func (f *Fault) happens() bool {
	if f.decided {
		return f.inTurn
	}
	f.decided = true
	switch {
	case f.left == 0:
		return false
	case f.pass > 0:
		f.pass--
		f.passed = true
		return false
	case f.left > 0:
		f.left--
	}
	f.met++
	f.inTurn = true
	return true
}

// place returns ref as a key of members: without the version, with the namespace that it gets.
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

// observer notes that a component was deployed.
func (f *faults) observer(c *reconcile.Component, _ deploy.Results) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deployed[c.Name()] = true
}

// recorder is a Patcher that changes nothing: it records the objects of components.
type recorder struct{ *faults }

// Patches implements reconcile.Patcher.
func (s recorder) Patches(context.Context, reconcile.PatchTarget) ([]reconcile.Patch, error) {
	if err := s.atSetup(); err != nil {
		return nil, err
	}
	return []reconcile.Patch{recording(s)}, nil
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

// Name implements reconcile.Patch.
func (s recording) Name() string { return "reconciletest" }

// Apply implements reconcile.Patch.
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
