package reconcile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The reasons of the events that a Reconciler records by itself, see Events. Any other failure has the reason of the
// condition Updating.
const (
	// EventCreated and EventChanged: objects of a component were created, or changed.
	EventCreated = "Created"
	EventChanged = "Changed"
	// EventRewritten: the cluster stored other values than were applied, for example because of admission.
	EventRewritten = "Rewritten"
	// EventDeleted: objects were deleted, because no component renders them any more or their component is disabled.
	EventDeleted = "Deleted"
	// EventKept: objects that no component renders any more weren't deleted, because their data would be lost, see
	// Prunes.
	EventKept = "Kept"
	// EventContested: somebody else keeps setting fields of an object, so these fields aren't applied for a while.
	EventContested = "Contested"
	// EventRemade: an object, such as a Job with a ttlSecondsAfterFinished, is created again each time it has finished
	// and was deleted.
	EventRemade = "MadeAnew"
	// EventReady: all components of the resource have become ready.
	EventReady = "Ready"
	// EventFinalized: Finalize is done, so the resource is deleted.
	EventFinalized = "Finalized"
	// EventHangs: the deletion of the resource still waits after the time of Recheck. The note says for what: for what
	// Finalize waits for, or for finalizers of others.
	EventHangs = "DeletionHangs"
	// EventUnfinished: the resource is deleted although components of Finalize weren't rolled out, because their
	// namespace is being deleted too. The note names the components.
	EventUnfinished = "Unfinished"
)

// Event records an event about the resource if there is a sink for it (Events). It never blocks and never fails. reason
// is one word, for programs. format and args are as for fmt.Sprintf.
func (s *Session) Event(kind event.Type, reason, format string, args ...any) {
	if s.events != nil && !s.dryRun {
		s.events.Record(event.Event{Regarding: event.Of(s.resource), Type: kind, Reason: reason, Note: fmt.Sprintf(format, args...)})
	}
}

// record records the events of a session that ended with err.
func (s *Session) record(before, now memory.Count, err error) {
	if s.events == nil {
		return
	}
	for _, c := range s.components {
		s.recordChanges(c, EventCreated, deploy.Created)
		s.recordChanges(c, EventChanged, deploy.Configured, deploy.Replaced, deploy.Recreated)
		for _, result := range c.results {
			if len(result.Rewritten) > 0 {
				s.Event(event.Normal, EventRewritten, "component %s: the cluster stored %s otherwise than applied: %s", c.name, result.Ref, rewritten(result))
			}
		}
	}
	if names := s.removed.names(deploy.Removed); names != "" {
		s.Event(event.Normal, EventDeleted, "deleted %s", names)
	}
	if now.Kept != "" && now.Kept != before.Kept {
		s.Event(event.Warning, EventKept, "kept although no component renders it any more, because deleting it would lose data: "+
			"%s: delete it, or let the operator prune its kind by the option reconcile.Prunes", now.Kept)
	}
	switch {
	case s.finalized && s.undone != "":
		s.Event(event.Warning, EventUnfinished, "%s", s.undone)
	case s.finalized:
		s.Event(event.Normal, EventFinalized, "nothing is left to be finalized")
	case now.Failure != "" && now.Failure != before.Failure:
		_, updating := status.ForError(request.ClassOf(err), now.Failure)
		reason := string(updating.Reason)
		if lifecycle.Fought(err) {
			reason = EventContested
		}
		s.Event(event.Warning, reason, "%s", now.Failure)
	case now.Standing == standing.Settled && !s.wasReady(before):
		s.Event(event.Normal, EventReady, "all components are ready: %d", s.ended.outcome.count(Verified))
	}
}

// mostRewritten bounds how many changed values of one object are named.
const mostRewritten = 5

// rewritten lists in one line the values that the cluster stored differently.
func rewritten(result deploy.Result) string {
	var parts []string
	for _, change := range result.Rewritten[:min(len(result.Rewritten), mostRewritten)] {
		parts = append(parts, lifecycle.Cut(change.String(), 200))
	}
	if more := len(result.Rewritten) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

func (s *Session) recordChanges(c *Component, reason string, actions ...deploy.Action) {
	if names := changes(c.results).names(actions...); names != "" {
		s.Event(event.Normal, reason, "component %s: %s %s", c.name, strings.ToLower(reason), names)
	}
}

// wasReady reports whether the resource was ready before the session, even if the process was restarted since.
func (s *Session) wasReady(before memory.Count) bool {
	ready, known := status.Conditions(s.resource).Get(status.ConditionReady)
	return known && ready.Status == metav1.ConditionTrue || before.Standing == standing.Settled
}

// changes are results of deployments; some of them changed an object.
type changes deploy.Results

// names lists the objects whose result is one of the given actions.
func (c changes) names(actions ...deploy.Action) string {
	var names []string
	for _, result := range c {
		if slices.Contains(actions, result.Action) {
			names = append(names, result.Ref.Kind.Kind+" "+result.Ref.Name)
		}
	}
	return strings.Join(names, ", ")
}

// failure returns the text that is reported for an error. passes: the error isn't reported because it goes away by
// itself, for example if another writer was faster or the cluster didn't answer. If the cluster answers repeatedly that
// it is unavailable, the error is reported.
func (s *Session) failure(err error) (text string, passes bool) {
	_, unavailable := lifecycle.Unavailable(err)
	switch {
	case err == nil:
		return "", false
	case request.Resolve(err).Quiet:
		return "", true
	case unavailable && (!failure.Is[*apierrors.StatusError](err) || s.attempt < quietAttempts):
		return "", true
	}
	return err.Error(), false
}

// mostKept bounds how many fields of a component the status names.
const mostKept = 10

// kept names the fields of each component that are left to others, such as replicas that somebody has scaled: the
// values that the component renders for them have no effect.
func (s *Session) kept() map[string]string {
	texts := map[string]string{}
	for _, c := range s.components {
		var fields []string
		for _, result := range c.results {
			for _, field := range result.Kept {
				fields = append(fields, fmt.Sprintf("%s %s: %s", result.Ref.Kind.Kind, result.Ref.Name, field.Left()))
			}
		}
		if more := len(fields) - mostKept; more > 0 {
			fields = append(fields[:mostKept], fmt.Sprintf("and %d more", more))
		}
		if len(fields) > 0 {
			texts[c.name] = strings.Join(fields, "; ")
		}
	}
	return texts
}

// withKept returns the message of a condition with the fields that are left to others.
func withKept(message string, kept map[string]string) string {
	parts := make([]string, 0, 1+len(kept))
	if message != "" {
		parts = append(parts, message)
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		parts = append(parts, kept[name])
	}
	return strings.Join(parts, "; ")
}
