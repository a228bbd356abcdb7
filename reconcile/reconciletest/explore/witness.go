package explore

import (
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// fault is what an oracle finds at one moment of an execution.
type fault struct {
	problem string
	details []string
}

// key is the same for the same problem of the same object.
func (f fault) key() string { return f.problem + " " + subjectOf(f.details) }

// witness watches an execution for its oracles: it looks at each write, and at the cluster when the operator has
// nothing left to do.
type witness struct {
	*explorer
	trial   *trial
	harness *reconciletest.Harness
	trace   *trace

	mu sync.Mutex
	// judged counts the reconciles that were judged.
	judged int
	// secrets are the values of Secrets that were seen.
	secrets secrets
	// set are the fields of objects of others that the operator itself has set.
	set map[string]bool
	// adorned are the uids of the objects to which somebody else has added something.
	adorned map[deploy.Ref]types.UID
	// claims are what the statuses claim, by resource.
	claims map[string]claim
	// events are those of the present chapter until the operator had nothing left to do.
	events []event.Event
}

// attend makes the witness of an execution, which begins.
func (e *explorer) attend(trial *trial, h *reconciletest.Harness, tr *trace) *witness {
	w := &witness{explorer: e, trial: trial, harness: h, trace: tr, secrets: secrets{}, set: map[string]bool{}, adorned: map[deploy.Ref]types.UID{}, claims: map[string]claim{}}
	trial.wrote = w.wrote
	return w
}

// wrote judges the cluster after a write of the operator.
func (w *witness) wrote(call reconciletest.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.trace.chapters) == 0 {
		return // before the life begins
	}
	now := &w.trace.chapters[len(w.trace.chapters)-1]
	now.add(w.holds(call.String(), func(p property) bool { return p.always })...)
	if w.alone() {
		now.add(w.misowned(call)...)
	}
	if w.undeceived() && w.explores(call.Ref) {
		now.add(w.early(now, call.Ref)...)
	}
}

// rest judges the cluster when the operator has nothing left to do. calls are its requests until then. The objects
// aren't kept.
func (w *witness) rest(now *lived, calls []reconciletest.Call, objects []*unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls = w.options.judgedCalls(calls)
	now.add(w.holds("", func(p property) bool { return p.always || w.trace.life.unready == "" })...)
	now.panics = append(now.panics, w.panics()...)
	now.add(w.leaks(objects)...)
	now.add(w.moved(calls)...)
	if !now.passed {
		now.add(wiped(calls)...)
	}
	if w.alone() {
		now.add(w.truth(w.harness.Memory().Objects(), objects)...)
		if len(now.again) == 0 { // else each reconcile writes
			now.add(idle(calls)...)
			if len(now.errs) == 0 { // else the failure is told again
				now.add(w.options.repeated(w.events, w.trial.events())...)
			}
		}
		now.add(w.intrusions(calls)...)
		now.add(w.removals(objects)...)
	}
}

// holds checks properties. after is the write that was just sent.
func (w *witness) holds(after string, which func(property) bool) (faults []fault) {
	s := State{&moment{witness: w}}
	for _, p := range w.options.properties {
		if !which(p) {
			continue
		}
		if f := p.broken(s); f != nil {
			if after != "" {
				f.details = append(f.details, "after it has sent: "+after)
			}
			faults = append(faults, *f)
		}
	}
	return faults
}

// alone reports whether nothing disturbs the execution. Some oracles need no other one: with disturbances the cluster
// has to come to the same state.
func (w *witness) alone() bool { return len(w.trace.disturbances) == 0 }

// undeceived reports whether everything is as the operator sees it when it writes: kills and failures don't change
// that.
func (w *witness) undeceived() bool {
	return !slices.ContainsFunc(w.trace.disturbances, func(a armed) bool { return columnOf(a.act) > failing || a.act == depose || a.act == outage })
}

// explores reports whether an object is of the kind of the resources.
func (w *witness) explores(ref deploy.Ref) bool { return ref.Kind.GroupKind() == w.kind.GroupKind() }

// add adds faults, unless they are known.
func (now *lived) add(faults ...fault) {
	for _, f := range faults {
		if !slices.ContainsFunc(now.faults, func(other fault) bool { return other.problem == f.problem }) {
			now.faults = append(now.faults, f)
		}
	}
}
