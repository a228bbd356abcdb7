package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The reasons of events about parents, see package desired.
const (
	EventCreated   = "ChildCreated"
	EventChanged   = "ChildChanged"
	EventRecreated = "ChildRecreated"
	EventDeleted   = "ChildDeleted"
	EventAdopted   = "ChildAdopted"
	EventReleased  = "ChildReleased"

	EventSyncFailed  = "SyncFailed"
	EventChildFailed = "ChildFailed"
	EventRefused     = "ChildRefused"
)

// reasonOf are the reasons for what an apply or a deletion does with a child.
var reasonOf = map[deploy.Action]string{
	deploy.Created: EventCreated, deploy.Configured: EventChanged, deploy.Replaced: EventChanged,
	deploy.Recreated: EventRecreated, deploy.Removed: EventDeleted,
}

// inEvents is the order of the events of a pass, with what they say.
var inEvents = []struct{ reason, verb string }{
	{EventAdopted, "adopted"},
	{EventReleased, "released"},
	{EventCreated, "created"},
	{EventChanged, "changed"},
	{EventRecreated, "recreated"},
	{EventDeleted, "deleted"},
}

// mostNames bounds how many children an event names.
const mostNames = 5

// changes are the children that a pass has changed, by the reason of the event. The zero value is empty.
type changes map[string][]deploy.Ref

func (c changes) add(reason string, child deploy.Ref) {
	if !slices.Contains(c[reason], child) {
		c[reason] = append(c[reason], child)
	}
}

// recordChanges records an event for each sort of change that the pass has made, however many children it is about.
func (p *pass) recordChanges(parent *unstructured.Unstructured) {
	for _, one := range inEvents {
		children := p.changes[one.reason]
		if len(children) == 0 {
			continue
		}
		names := make([]string, 0, mostNames+1)
		for _, child := range children[:min(len(children), mostNames)] {
			name := child.Name
			if child.Namespace != p.key.Namespace {
				name = child.Namespace + "/" + name
			}
			names = append(names, child.Kind.Kind+" "+name)
		}
		if more := len(children) - len(names); more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		p.record(parent, event.Normal, one.reason, one.verb+" "+strings.Join(names, ", "))
	}
}

// recordFailure records a warning about the error of a pass, unless the error before it was the same. Errors that
// usually go away by themselves, and waiting, are no news.
func (p *pass) recordFailure(ctx context.Context, parent *unstructured.Unstructured, before string, err error) {
	if lifecycle.Interrupted(ctx) {
		return
	}
	text := ""
	switch {
	case err == nil:
	case lifecycle.Temporary(err), request.IsWaiting(err), request.Resolve(err).Quiet:
		text = before
	default:
		if text = err.Error(); text != before {
			p.record(parent, event.Warning, p.stage, text)
		}
	}
	if text == "" && before == "" {
		return
	}
	p.Memory.Update(p.key, func(m *memory.Resource) {
		count := m.Count()
		count.Failure = text
		m.SetCount(count)
	})
}

// reported returns the error about which a warning was recorded last, empty for none.
func (r *Reconciler) reported(key deploy.Ref) (failure string) {
	r.Memory.Look(key, func(m *memory.Resource) { failure = m.Count().Failure })
	return failure
}

func (p *pass) record(parent *unstructured.Unstructured, eventType event.Type, reason, note string) {
	if p.env.Events != nil {
		p.env.Events.Record(event.Event{Regarding: event.Of(parent), Type: eventType, Reason: reason, Note: note})
	}
}
