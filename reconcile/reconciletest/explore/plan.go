package explore

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// act is a kind of disturbance at one request of the operator.
type act string

const (
	killBefore act = "kill-before" // the operator ends, and the write isn't sent
	killAfter  act = "kill-after"  // the operator ends when the write has been sent
	refuse     act = "refuse"      // the API server is overloaded: 429
	fail       act = "fail"        // the API server fails: 500
	lose       act = "lose"        // the request is carried out, and the connection breaks
	outdate    act = "outdate"     // somebody else was faster: 409
	restart    act = "restart"     // the operator is started anew when it has nothing left to do
	take       act = "take"        // somebody deletes an object of the operator when it has nothing left to do
)

// choice is one disturbance: at a request of a chapter, both counted from 1. For take it is an object instead.
type choice struct {
	chapter, request int
	act              act
}

func (c choice) String() string { return fmt.Sprintf("%s@%d.%d", c.act, c.chapter, c.request) }

// fits reports whether a chapter has what the choice is about.
func (c choice) fits(now lived) bool {
	if c.act == take {
		return c.request <= len(now.children)
	}
	return c.request <= len(now.calls)
}

// plan is a list of disturbances, in the order in which they happen.
type plan []choice

func (p plan) String() string {
	words := make([]string, len(p))
	for i, c := range p {
		words[i] = c.String()
	}
	return strings.Join(words, ",")
}

// parsePlan is the inverse of plan.String.
func parsePlan(text string) (p plan, err error) {
	for word := range strings.SplitSeq(text, ",") {
		name, at, _ := strings.Cut(word, "@")
		c := choice{act: act(name)}
		if _, err := fmt.Sscanf(at, "%d.%d", &c.chapter, &c.request); err != nil || c.String() != word || !c.valid() {
			return nil, fmt.Errorf("plan %q: %q isn't ACT@CHAPTER.REQUEST: copy it from a finding", text, word)
		}
		p = append(p, c)
	}
	return p, nil
}

// acts are all kinds of disturbances.
var acts = []act{killBefore, killAfter, refuse, fail, lose, outdate, restart, take}

func (c choice) valid() bool {
	return slices.Contains(acts, c.act) && c.chapter > 0 && (c.request > 0) == (c.act != restart) && c.request >= 0
}

// actsAt returns what can happen at a request.
func actsAt(call reconciletest.Call) []act {
	switch {
	case call.Err != nil:
		return nil
	case !call.Write():
		return []act{fail}
	case call.Verb == dryrun.VerbUpdate:
		return []act{killBefore, killAfter, refuse, fail, lose, outdate}
	}
	return []act{killBefore, killAfter, refuse, fail, lose}
}

// armed is a choice with the request that it is about in an execution.
type armed struct {
	choice
	write int    // which write of its chapter, counted from 1, a kill is about
	about string // the request, or the object that is deleted
}

// arm prepares a choice for an execution. now is the same chapter in an execution without this choice.
func (c choice) arm(now lived) armed {
	a := armed{choice: c}
	switch c.act {
	case take:
		a.about = now.children[c.request-1]
		return a
	case restart:
		return a
	}
	call := now.calls[c.request-1]
	a.about = strings.TrimSpace(string(call.Verb) + " " + call.Ref.String() + " " + call.Subresource)
	a.write = len(writes(now.calls[:c.request]))
	return a
}

// faults are how requests fail, by act.
var faults = map[act]dryrun.Fault{
	refuse:  {Code: http.StatusTooManyRequests},
	fail:    {Code: http.StatusInternalServerError},
	outdate: {Code: http.StatusConflict},
	lose:    {Lost: true},
}
