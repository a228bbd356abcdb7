package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// choice is one disturbance: at a request of a chapter, both counted from 1. What request means otherwise, its act
// says.
type choice struct {
	chapter, request int
	act              act
}

func (c choice) String() string { return fmt.Sprintf("%s@%d.%d", c.act, c.chapter, c.request) }

// plan is a list of disturbances, in the order in which they happen.
type plan []choice

func planOf(disturbances []armed) (p plan) {
	for _, a := range disturbances {
		p = append(p, a.choice)
	}
	return p
}

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

func (c choice) valid() bool {
	return slices.Contains(acts, c.act) && c.chapter > 0 && (c.request > 0) == (c.place() != atChapter) && c.request >= 0
}

// actsAt returns what can happen at a request.
func actsAt(call reconciletest.Call) []act {
	switch {
	case call.Err != nil:
		return nil
	case !call.Write():
		return []act{fail, hurry}
	}
	possible := []act{killBefore, killAfter, refuse, fail, lose, hurry, depose, outage}
	if call.Verb != dryrun.VerbCreate && call.Verb != dryrun.VerbDelete && call.Action != deploy.Created {
		possible = append(possible, outdate)
	}
	if call.Verb != dryrun.VerbDelete {
		possible = append(possible, reject)
	}
	return possible
}

// armed is a choice with the request that it is about in an execution.
type armed struct {
	choice
	write  int    // which write of its chapter, counted from 1, a kill is about
	object string // the object of the request, or the child
	about  string // the request, or the child
}

// arm prepares a choice for an execution. now is the same chapter in an execution without this choice.
func (c choice) arm(now lived) armed {
	a := armed{choice: c}
	switch c.place() {
	case atChild:
		a.object = now.children[c.request-1]
		a.about = a.object
	case atRequest:
		call := now.calls[c.request-1]
		a.object = refName(call.Ref)
		a.about = strings.TrimSpace(string(call.Verb) + " " + call.Ref.String() + " " + call.Subresource)
		a.write = len(writes(now.calls[:c.request]))
	}
	return a
}
