package leader

import (
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/source"
)

// Sources implements source.Provider: what the Reconciler says that is called.
func (l *ObjectLock) Sources() source.Sources { return l.sources }

// Observe implements watch.Observer, for a Reconciler that does.
func (l *ObjectLock) Observe(event deploy.Event) {
	if observer, ok := l.next.(interface{ Observe(event deploy.Event) }); ok {
		observer.Observe(event)
	}
}

// Forget implements watch.Forgetter, for a Reconciler that does.
func (l *ObjectLock) Forget(key deploy.Ref) {
	l.objects.forget(key)
	l.forgetNext(key)
}

func (l *ObjectLock) forgetNext(key deploy.Ref) {
	if forgetter, ok := l.next.(interface{ Forget(key deploy.Ref) }); ok {
		forgetter.Forget(key)
	}
}
