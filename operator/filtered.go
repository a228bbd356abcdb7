package operator

import (
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
)

// filtered is a reconciler with a filter for which its controller has none.
type filtered struct {
	*reconcile.Reconciler
	when filter.Predicate
}

// Sources implements source.Provider.
func (f filtered) Sources() source.Sources {
	sources := f.Reconciler.Sources()
	if sources.When == nil {
		sources.When = f.when
	}
	return sources
}

// filteredBy has the filter of a name decide which events of a controller's resources count, unless it says so itself; no
// name leaves that to the engine (spec: watch 31).
func (o *Operator) filteredBy(name string, reconciler *reconcile.Reconciler) (watch.Reconciler, error) {
	if name == "" {
		return reconciler, nil
	}
	when, err := filter.Named(name, o.domain)
	if err != nil {
		return nil, err
	}
	return filtered{reconciler, when}, nil
}
