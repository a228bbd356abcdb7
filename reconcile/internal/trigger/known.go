package trigger

import "github.com/operkit/operkit/reconcile/request"

// Known tells whether there is an object of this key, as far as events have told.
func (o *Owners) Known(key request.Key) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	_, known := o.uids[key]
	return known
}
