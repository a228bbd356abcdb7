package engine

import (
	"log/slog"
	"maps"
	"reflect"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/cause"
	"github.com/operkit/operkit/reconcile/handlers/internal/diff"
	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Attempt is one call of a handler: what it is about, and what it sets. Don't use it after the call.
type Attempt struct {
	// Handler is the handler that is called.
	Handler *Handler
	// Diff is what has changed, in the field of the handler if it has one.
	Diff []diff.Item
	// Event is the event that a handler of Seen is called for, and Reported that of a handler of OnClusterEvent.
	Event    deploy.EventType
	Reported ClusterEvent

	work *work
	// pass is the pass, for a handler of On or Field; it is nil for others.
	pass *pass
	// record is the record of the handler during the call.
	record progress.Record
	// latest returns the newest state of the object, for a daemon; it is nil for others.
	latest latestOf

	mu sync.Mutex
	// result is the value for the status; hasResult tells nil from none.
	result    any
	hasResult bool
	updates   []update
	// waits is when the first step that waits is due.
	waits   time.Time
	waiting bool
}

// Ref names the object.
func (a *Attempt) Ref() deploy.Ref { return a.work.ref }

// Object returns the object. It is shared: don't change it.
func (a *Attempt) Object() *unstructured.Unstructured { return a.work.object }

// Number counts the calls for the present cause, from 1 on, and started is when the first one began.
func (a *Attempt) Number() (n int, started time.Time) { return a.record.Attempts + 1, a.record.Started }

// Logger returns the logger of the object and the handler.
func (a *Attempt) Logger() *slog.Logger { return a.work.log.With("handler", a.Handler.ID) }

// Reason returns why a handler of On or Field is called, and the empty reason for others.
func (a *Attempt) Reason() cause.Reason {
	if a.pass == nil {
		return ""
	}
	return a.pass.reason
}

// Before returns the object as it was handled last: its essence, with the names of the present object. It is nil if
// that isn't known.
func (a *Attempt) Before() map[string]any {
	if a.pass == nil || a.pass.record.Essence == nil {
		return nil
	}
	content, _ := a.pass.record.Essence["metadata"].(map[string]any)
	metadata := map[string]any{}
	maps.Copy(metadata, content)
	object := &unstructured.Unstructured{Object: maps.Clone(a.pass.record.Essence)}
	object.Object["metadata"] = metadata
	object.SetGroupVersionKind(a.work.object.GroupVersionKind())
	object.SetName(a.work.object.GetName())
	object.SetNamespace(a.work.object.GetNamespace())
	object.SetUID(a.work.object.GetUID())
	return object.Object
}

// IsDaemon reports whether the handler is one of Daemon.
func (a *Attempt) IsDaemon() bool { return a.latest != nil }

// Latest moves the attempt of a daemon on to the newest state of its object. It reports whether that is another one.
func (a *Attempt) Latest() (moved bool) {
	newest := a.latest()
	moved = newest != a.work.object
	a.work.object = newest
	return moved
}

// Memo returns the value that the process keeps for the object under a type. make makes it if there is none.
func (a *Attempt) Memo(key reflect.Type, make func() any) any {
	o := a.work.known
	o.shared.Lock()
	defer o.shared.Unlock()
	if _, ok := o.memo[key]; !ok {
		if o.memo == nil {
			o.memo = map[reflect.Type]any{}
		}
		o.memo[key] = make()
	}
	return o.memo[key]
}
