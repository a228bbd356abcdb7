package explore

import (
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// lags reports whether watches fall behind from a request on.
func (c choice) lags() bool { return c.act == lagResource || c.act == lagChildren }

// lagsAt returns which watches can fall behind at a request. ofResource means that it is about the resource: a write
// shows the resource as it is, and one of its status changes no other object.
func lagsAt(call reconciletest.Call, ofResource bool) []act {
	switch {
	case call.Err != nil || !call.Write() || ofResource && call.Subresource != "":
		return nil
	case ofResource:
		return []act{lagChildren}
	}
	return []act{lagResource, lagChildren}
}

// lag lets watches fall behind in the nth chapter: the one of the resource, or all others.
func (x *execution) lag(n int, how act) {
	x.behind = true
	if how == lagResource {
		x.h.Stall(x.kind.Kind)
		x.hurry(n)
		return
	}
	x.h.Stall()
	x.h.CatchUp(x.kind.Kind)
}

// overtaken reports whether the next chapter begins before the operator has seen all of the nth one.
func (x *execution) overtaken(n int) bool {
	switch {
	case !x.behind:
		return false
	case len(x.at(n, lagChildren)) > 0:
		x.hurry(n)
		return x.begun
	case len(x.at(n, lagResource)) > 0 && x.begun:
		x.behind = false
		x.h.CatchUp()
		return true
	}
	return false
}

// catchUp lets watches catch up that have fallen behind.
func (x *execution) catchUp() {
	if x.behind {
		x.behind = false
		x.h.CatchUp()
		x.h.RunUntilSettled()
	}
}
