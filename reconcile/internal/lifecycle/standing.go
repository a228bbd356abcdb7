package lifecycle

import (
	"context"
	"errors"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Tally implements standing.Provider, also for a style that embeds the Lifecycle.
func (l *Lifecycle) Tally() standing.Tally { return l.Memory.Tally(l.States) }

// Forget implements watch.Forgetter, also for a style that embeds the Lifecycle: it drops what is remembered about a
// resource that is gone or has left the view.
func (l *Lifecycle) Forget(key deploy.Ref) { l.Memory.Forget(key) }

// Conclude counts a resource after a reconcile that returned err. complete: without an error, nothing is left to do. A
// dry run isn't counted, and neither is a reconcile that was interrupted.
func (l *Lifecycle) Conclude(ctx context.Context, resource *unstructured.Unstructured, complete bool, err error) {
	if l.DryRun || Interrupted(ctx) {
		return
	}
	version := l.version(resource)
	l.Memory.Update(deploy.RefOf(resource), func(m *memory.Resource) {
		m.SetCount(memory.Count{Standing: Standing(m.Count().Standing, resource, complete, err), Version: version})
	})
}

// Standing returns the standing of a resource after a reconcile that returned err: the standing before it if the error
// is quiet, since nothing new is known then.
func Standing(before standing.Standing, resource *unstructured.Unstructured, complete bool, err error) standing.Standing {
	if before != "" && request.Resolve(err).Quiet {
		return before
	}
	return standing.After(resource, complete, err)
}

// Interrupted reports whether the context of a reconcile was cancelled, so that its result means nothing. A reconcile
// that took too long isn't interrupted.
func Interrupted(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded)
}

func (l *Lifecycle) version(resource *unstructured.Unstructured) string {
	if l.Version == nil {
		return ""
	}
	return l.Version(resource)
}
