package explore

import (
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// at returns the disturbances of the nth chapter with one of these acts.
func (x *execution) at(n int, acts ...act) []armed {
	return slices.DeleteFunc(slices.Clone(x.disturbances), func(a armed) bool { return a.chapter != n || !slices.Contains(acts, a.act) })
}

// misses reports whether the operator misses the nth chapter: the next one begins before it sees anything.
func (x *execution) misses(n int) bool {
	if len(x.at(n, miss)) == 0 {
		return false
	}
	x.hurry(n)
	x.h.CatchUp()
	return x.begun
}

// disturb prepares what happens at requests of the nth chapter. The requests of the test itself aren't disturbed.
func (x *execution) disturb(n int) {
	for _, a := range x.disturbances {
		switch {
		case a.chapter != n || a.place() != atRequest:
		case a.act == killBefore || a.act == killAfter || a.act == outage:
			x.h.Kill(a.write, a.act != killBefore)
		case a.act == depose:
			x.h.Depose(a.write)
		case a.act == hurry:
			x.h.BeforeRequest(a.request, func() { x.hurry(n) })
		case a.lags():
			x.h.BeforeRequest(a.request, func() { x.lag(n, a.act) })
		case a.act == overlap:
			x.h.Overlap(a.request, nameOf(x.life.resource))
			x.h.Overlap(a.request, nameOf(x.life.second))
		case a.act == snatch:
			x.h.BeforeRequest(a.request, func() { _ = x.h.TryDelete(a.object) }) // it may be gone already
		case a.act == alter:
			x.h.BeforeRequest(a.request, func() { _ = x.h.TryEdit(a.object, tamper) }) // it may be gone, or being deleted
		default:
			x.h.FailRequest(a.request, faults[a.act])
		}
	}
}

// retry reconciles the resources once more after a write of the nth chapter was refused because of its content, or
// arrived late. An operator may wait for an event, since the same content is mostly refused again, and no event tells
// of a late write of a status.
func (x *execution) retry(n int) {
	if len(x.at(n, reject, depose)) > 0 {
		x.h.Bring(resources(x.h, x.kind)...)
		x.h.RunUntilSettled()
	}
}

// meddle deletes and changes children at the end of the nth chapter. An error means that another disturbance has
// changed what there is, or that the cluster refuses it. An operator that doesn't watch a child has time to look after
// it, also when the child was changed before a request.
func (x *execution) meddle(n int) {
	if len(x.at(n, alter)) > 0 {
		x.wait()
	}
	for _, a := range x.at(n, take, drift) {
		before := stateOf(x.objects(x.h))
		var err error
		if a.act == take {
			err = x.h.TryDelete(a.object)
		} else {
			err = x.h.TryEdit(a.object, tamper)
		}
		if err == nil {
			x.h.RunUntilSettled()
		}
		if len(compare(before, stateOf(x.objects(x.h)))) > 0 {
			x.wait()
		}
	}
}

// enough is how many reconciles show that an operator that looks after its objects from time to time has seen them all.
const enough = 30

// wait gives an operator an hour, or less if it reconciles often.
func (x *execution) wait() { let(x.h, time.Hour, enough) }

// end does what happens after the nth chapter, when its end has been recorded.
func (x *execution) end(n int) {
	now := &x.chapters[n-1]
	x.ending = true
	defer func() { x.ending = false }()
	for range x.at(n, restart) {
		x.h.Advance(time.Minute)
		x.h.Restart()
		x.h.RunUntilSettled()
		sent := x.options.judgedCalls(writes(x.h.Calls()))
		now.anew = slices.DeleteFunc(sent, func(call reconciletest.Call) bool { return call.Action == deploy.Unchanged })
		objects := x.objects(x.h)
		x.witness.rest(now, x.h.Calls(), objects)
		now.errs = lastErrors(x.h, stateOf(objects))
	}
	for _, a := range x.at(n, hide) {
		kind, _, _ := strings.Cut(a.object, " ")
		kind, _, _ = strings.Cut(kind, ".")
		x.h.Stall(kind)
		_ = x.h.TryDelete(a.object) // another disturbance may have deleted it
		x.behind = true
	}
}
