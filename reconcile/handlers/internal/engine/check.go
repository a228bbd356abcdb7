package engine

import (
	"errors"
	"fmt"

	"github.com/operkit/operkit/reconcile/handlers/internal/fieldpath"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
)

// checkIDs returns an error for each id that several handlers have, or have had.
func checkIDs(handlers []*Handler) error {
	var errs []error
	seen := map[string]bool{}
	for _, one := range handlers {
		for _, id := range append([]string{one.ID}, one.Formerly...) {
			if seen[id] {
				errs = append(errs, fmt.Errorf("handler %q: there are two: give each handler an id of its own", id))
			}
			seen[id] = true
		}
	}
	return errors.Join(errs...)
}

// check returns what is wrong with the handlers together, and with the names on the objects.
func (r *Reconciler) check() error {
	errs := []error{checkIDs(r.handlers), r.setNames(), r.declare()}
	if r.config.Stateless && r.config.StatusField != "" {
		errs = append(errs, errors.New("record in status: Stateless keeps no record: use one of both options"))
	}
	for _, h := range r.handlers {
		if h.ID == r.config.StatusField && h.ID != "" {
			errs = append(errs, fmt.Errorf("handler %q: its result would replace the record, which is in the field of that name: use another field", h.ID))
		}
		if r.config.Stateless && h.IsCron {
			errs = append(errs, fmt.Errorf("handler %q: the last call of a Cron is recorded on the object, and Stateless records nothing: use Timer, or leave Stateless out", h.ID))
		}
		if r.config.Stateless && len(h.Formerly) > 0 {
			errs = append(errs, fmt.Errorf("handler %q: formerly: Stateless records nothing under an earlier id: leave the option out", h.ID))
		}
		if why := r.rules.Excludes(h.Filter.Field); why != "" && h.On&(selection.Update|selection.Field) != 0 {
			errs = append(errs, fmt.Errorf("handler %q: field %s: %s, so its changes are no updates: name another field", h.ID, fieldpath.String(h.Filter.Field), why))
		}
	}
	return errors.Join(errs...)
}
