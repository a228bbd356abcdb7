package explore

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/operkit/operkit/deploy/dryrun"
)

// act is a kind of disturbance.
type act string

// At a request of the operator.
const (
	killBefore act = "kill-before" // the operator ends, and the write isn't sent
	killAfter  act = "kill-after"  // the operator ends when the write has been sent
	outage     act = "outage"      // as kill-after, and the next chapter begins before the operator is back
	depose     act = "depose"      // another replica takes over, and the write arrives when that one has finished
	refuse     act = "refuse"      // the API server is overloaded: 429
	fail       act = "fail"        // the API server fails: 500
	lose       act = "lose"        // the request is carried out, and the connection breaks
	outdate    act = "outdate"     // somebody else was faster: 409
	reject     act = "reject"      // the API server or a policy refuses the content for a moment: 422
	snatch     act = "snatch"      // somebody deletes the object before the request
	alter      act = "alter"       // somebody changes a field of the object before the request
	hurry      act = "hurry"       // the next chapter begins before the request
	overlap    act = "overlap"     // the other resource is reconciled before the request
)

// From a request on, until the operator has nothing left to do.
const (
	lagResource act = "lag-resource" // the next chapter begins, and the operator doesn't see the resource change
	lagChildren act = "lag-children" // the operator doesn't see other objects change, also in the next chapter
)

// At an object of the operator, when it has nothing left to do.
const (
	take  act = "take"  // somebody deletes the object
	hide  act = "hide"  // somebody deletes the object, and the operator sees that only after the next chapter
	drift act = "drift" // somebody changes a field that the operator has set
)

// In a whole chapter, or from a point of it on where several requests wait.
const (
	restart act = "restart" // the operator is started anew when it has nothing left to do
	miss    act = "miss"    // the operator sees what the chapter begins with only when the next chapter has begun
	reverse act = "reverse" // what runs concurrently goes on in the opposite order
)

// place is what the number of a choice counts.
type place int

const (
	atRequest place = iota
	atChild         // the children, in the order of their names
	atPoint         // the points where several requests wait
	atChapter       // nothing: the act is about the whole chapter
)

// places are the places of acts, unless they are about a request.
var places = map[act]place{
	take: atChild, hide: atChild, drift: atChild, reverse: atPoint, restart: atChapter, miss: atChapter,
}

func (c choice) place() place { return places[c.act] }

// acts are all kinds of disturbances.
var acts = []act{
	killBefore, killAfter, outage, depose, refuse, fail, lose, outdate, reject, snatch, alter, hurry, overlap, lagResource, lagChildren,
	take, hide, drift, restart, miss, reverse,
}

// kills reports whether the process of the operator ends.
func (a act) kills() bool { return slices.Contains([]act{killBefore, killAfter, outage, depose}, a) }

// faults are how requests fail, by act.
var faults = map[act]dryrun.Fault{
	refuse:  {Code: http.StatusTooManyRequests},
	fail:    {Code: http.StatusInternalServerError},
	outdate: {Code: http.StatusConflict},
	reject:  {Code: http.StatusUnprocessableEntity},
	lose:    {Lost: true},
}

// tell describes a disturbance.
func (a armed) tell() string {
	switch a.act {
	case killBefore:
		return "the operator is killed before it sends: " + a.about
	case killAfter:
		return "the operator is killed after it has sent: " + a.about
	case outage:
		return "the operator is killed, and the next step happens before it is back, after it has sent: " + a.about
	case depose:
		return "another replica takes over, and this arrives when that one has finished: " + a.about
	case lose:
		return "carried out, but the connection breaks: " + a.about
	case snatch:
		return "somebody deletes " + a.object + " before the operator sends: " + a.about
	case alter:
		return "somebody changes " + a.object + " before the operator sends: " + a.about
	case hurry:
		return "the next step happens before the operator sends: " + a.about
	case lagResource:
		return "the watch of the resource falls behind, and the next step happens before the operator sends: " + a.about
	case lagChildren:
		return "the watches of other objects fall behind before the operator sends: " + a.about
	case overlap:
		return "the other resource is reconciled at the same time, before the operator sends: " + a.about
	case take:
		return "somebody deletes " + a.about
	case hide:
		return "somebody deletes " + a.about + ", and the operator sees it only after the next step"
	case drift:
		return "somebody changes " + a.about
	case restart:
		return "a minute later the operator is restarted"
	case miss:
		return "the operator sees it only when the next step has happened"
	case reverse:
		return fmt.Sprintf("from point %d on, what the operator does concurrently goes on in the opposite order", a.request)
	}
	return fmt.Sprintf("the API server answers %d: %s", faults[a.act].Code, a.about)
}
