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

// The phases. A component fails in one where one of its objects is first read or written there, whoever does: a
// Builder that touches none of them in a phase, such as one with a Verify of its own, can't be made to fail in it.
const (
	// Setup is before the controller's Setup; it is no component's.
	Setup Phase = "setup"
	// Deploy is when the objects of a component are applied, or deleted if it is disabled or not added any more.
	Deploy Phase = "deploy"
	// Verify is when it is looked whether the objects of a component that was deployed are ready.
	Verify Phase = "verify"
	// Finalize is while the resource is being deleted, for what goes and for the components that Finalize rolls out.
	Finalize Phase = "finalize"
)

// Fault is an error that was injected. Its methods may be called while nothing runs.
type Fault struct {
	faults    *faults
	component string
	object    string
	phase     Phase
	err       error

	// pass is how often it is still let pass, left how often it happens then, less than 0: for ever.
	pass, left int
	met        int
	// inTurn is whether it happens in the reconcile under way, once that is decided, passed whether it would have.
	inTurn, decided, passed bool
}

// After lets n reconciles pass that it would have met.
func (f *Fault) After(n int) *Fault {
	f.faults.mu.Lock()
	defer f.faults.mu.Unlock()
	f.pass = n
	return f
}

// Times has it happen in n reconciles only.
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

// Fail has every reconcile fail with err in a phase of a component, until it is healed. component is the name of
// one, whatever the resource, or that of one of its objects, "<component>.<object>", to have those before it applied; it is empty for the
// phase Setup. err counts as what it is: request.Precondition says to wait, an error of package deploy is the
// cluster's. One that is never met in the whole test fails it.
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
		return errors.New("the error is nil")
	case f.phase == Setup && f.component != "":
		return errors.New("this phase is no component's: leave the name empty")
	case f.phase == Setup:
		return nil
	case f.phase != Deploy && f.phase != Verify && f.phase != Finalize:
		return errors.New("there is no such phase: Setup, Deploy, Verify and Finalize are")
	case f.component == "":
		return errors.New("the component has no name")
	}
	return nil
}

// faults are those of a harness, and what has to be known to meet them: which object is of which component,
// and how far the reconcile under way is.
type faults struct {
	mu       sync.Mutex
	injected []*Fault
	// members are the objects of components, for the resource under way and those before.
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

// end reports whether an error that isn't injected for ever happened or was let pass, so that the next reconcile may
// go another way.
func (f *faults) end() (moved bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range f.injected {
		moved = moved || fault.inTurn && fault.left >= 0 || fault.passed
	}
	f.resource, f.rendered, f.deployed = deploy.Ref{}, nil, nil
	return moved
}

// meet is the error of touching an object, nil if there is none.
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

// meetRemoval is the error of deleting an object. Those of a component that is taken away aren't seen while they are
// rendered; their component is known from when it was deployed.
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

// failure is the error of an object in a phase. The lock is held.
func (f *faults) failure(m member, phase Phase) error {
	for _, fault := range f.injected {
		if fault.phase == phase && fault.component == m.component && (fault.object == "" || fault.object == m.object) && fault.happens() {
			return fault.err
		}
	}
	return nil
}

// happens decides once in a reconcile. The lock is held.
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

// place is ref as members are kept: by the group of its kind, with the namespace that it gets.
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

// observer is told when a component was deployed.
func (f *faults) observer(c *reconcile.Component, _ deploy.Results) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deployed[c.Name()] = true
}

// seeing is a Patcher that changes nothing: it sees which objects components have.
type seeing struct{ *faults }

// Patches implements reconcile.Patcher.
func (s seeing) Patches(context.Context, reconcile.Target) ([]reconcile.Patch, error) {
	if err := s.atSetup(); err != nil {
		return nil, err
	}
	return []reconcile.Patch{sight(s)}, nil
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

type sight seeing

// Name implements reconcile.Patch.
func (s sight) Name() string { return "reconciletest" }

// Apply implements reconcile.Patch.
func (s sight) Apply(_ context.Context, component, object string, content map[string]any) (map[string]any, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.place(deploy.RefOf(&unstructured.Unstructured{Object: content}))
	s.members[at] = member{component, object}
	if s.rendered != nil {
		s.rendered[at] = true
	}
	return nil, false, nil
}
