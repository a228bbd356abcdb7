package trigger

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Rules decide which events bring the objects of one controlled kind to reconcile, according to the Sources of that
// kind. A panic of a user's function is logged once for each function and goes no further. Rules are safe for
// concurrent use. NewRules makes them.
type Rules struct {
	kind    schema.GroupVersionKind
	forced  string
	logger  *slog.Logger
	sources source.Sources
	when    predicate
	owned   map[schema.GroupKind]*predicate
	mapped  []*mapping
	indexed []*Guard
	// foreign and nameless log the first ignored key of each sort.
	foreign, nameless sync.Once
}

// NewRules returns the Rules of checked sources for the objects of kind. domain is the domain of the annotation that
// forces a reconcile.
func NewRules(kind schema.GroupVersionKind, sources source.Sources, domain string, logger *slog.Logger) *Rules {
	r := &Rules{
		kind: kind, forced: domain + ForcedBy, logger: logger, sources: sources,
		when: predicate{filter: sources.When, of: kind.GroupKind().String()}, owned: map[schema.GroupKind]*predicate{},
	}
	if sources.When == nil {
		r.when.filter = standard
	}
	for _, owned := range sources.Owned {
		r.owned[owned.Kind.GroupKind()] = &predicate{
			filter: owned.When, of: owned.Kind.GroupKind().String() + " of " + kind.GroupKind().String(),
		}
	}
	for _, mapped := range sources.Mapped {
		of := mapped.Kind.GroupKind().String() + " mapped to " + kind.GroupKind().String()
		r.mapped = append(r.mapped, &mapping{predicate: predicate{filter: mapped.When, of: of}, keys: mapped.Keys})
	}
	for range sources.Indexed {
		r.indexed = append(r.indexed, &Guard{})
	}
	return r
}

// Sources returns the sources with which NewRules was called.
func (r *Rules) Sources() source.Sources { return r.sources }

// Counts reports whether an event of a controlled object brings the object to reconcile, and whether the annotation
// ForcedBy forces the reconcile. An object that left the view is never brought to reconcile.
func (r *Rules) Counts(event deploy.Event) (counts, forced bool) {
	if event.Type == deploy.Left {
		return false, false
	}
	forced = isForced(event, r.forced)
	return forced || !leasing(event) && r.when.passes(event, r.logger), forced
}

// CountsOwned reports whether an event of a child of a kind may bring its owners.
func (r *Rules) CountsOwned(child schema.GroupVersionKind, event deploy.Event) bool {
	owned := r.owned[child.GroupKind()]
	return owned == nil || owned.passes(event, r.logger)
}

// Mapped returns the keys that an event concerns, according to the entry of Sources.Mapped at index place.
func (r *Rules) Mapped(place int, event deploy.Event) []deploy.Ref {
	mapped := r.mapped[place]
	if !concernsOthers(event) || !mapped.passes(event, r.logger) {
		return nil
	}
	return r.Own(mapped.call(event, r.logger)...)
}

// Index passes an event to the function of Sources.Indexed at index place.
func (r *Rules) Index(place int, event deploy.Event) {
	indexed := r.sources.Indexed[place]
	r.indexed[place].Call(r.logger, "an index panicked: it may be incomplete", indexed.Kind.GroupKind().String()+" indexed for "+r.kind.GroupKind().String(),
		func() { indexed.Index(event) })
}

// IndexesOwn reports whether the controlled kind itself is indexed.
func (r *Rules) IndexesOwn() bool {
	return slices.ContainsFunc(r.sources.Indexed, r.isOwn)
}

// IndexOwn passes an event of a controlled object to the indexes of its kind.
func (r *Rules) IndexOwn(event deploy.Event) {
	for place, indexed := range r.sources.Indexed {
		if r.isOwn(indexed) {
			r.Index(place, event)
		}
	}
}

func (r *Rules) isOwn(indexed source.Indexed) bool {
	return indexed.Kind.GroupKind() == r.kind.GroupKind()
}

// Foreign returns the places of the indexes of other kinds in Sources.Indexed.
func (r *Rules) Foreign() (places []int) {
	for place, indexed := range r.sources.Indexed {
		if !r.isOwn(indexed) {
			places = append(places, place)
		}
	}
	return places
}

// Starters returns the external sources that have to start before the first reconcile, in their order.
func (r *Rules) Starters() (all []source.Starter) {
	for _, external := range r.sources.External {
		if starter, ok := external.(source.Starter); ok {
			all = append(all, starter)
		}
	}
	return all
}

// Own returns the keys that name objects of the kind, with the kind filled in.
func (r *Rules) Own(keys ...deploy.Ref) (own []deploy.Ref) {
	for _, key := range keys {
		if key.Kind.Empty() || key.Kind.GroupKind() == r.kind.GroupKind() {
			key.Kind = r.kind
		}
		switch {
		case key.Kind != r.kind:
			r.foreign.Do(func() { r.ignored("key ignored: a source returned a key of another kind", key) })
		case key.Name == "":
			r.nameless.Do(func() { r.ignored("key ignored: a source returned a key without a name", key) })
		default:
			own = append(own, key)
		}
	}
	return own
}

func (r *Rules) ignored(why string, key deploy.Ref) {
	r.logger.Error(why, "kind", r.kind.Kind, "key", fmt.Sprintf("%q", key))
}

// predicate is a user's filter.
type predicate struct {
	Guard
	filter filter.Predicate
	// of is the name of the kind whose events are filtered.
	of string
}

// passes returns the result of the filter, or true if the filter panics.
func (p *predicate) passes(event deploy.Event, logger *slog.Logger) bool {
	passes := true
	if p.filter != nil {
		p.Call(logger, "a filter panicked: its event counts", p.of, func() { passes = p.filter(event) })
	}
	return passes
}

// mapping is a user's function from an event to keys, behind its filter.
type mapping struct {
	predicate
	keys  func(deploy.Event) []deploy.Ref
	guard Guard
}

func (m *mapping) call(event deploy.Event, logger *slog.Logger) (keys []deploy.Ref) {
	m.guard.Call(logger, "a mapping panicked: its event is ignored", m.of, func() { keys = m.keys(event) })
	return keys
}

// Guard calls functions of users. The zero value is ready for use.
type Guard struct{ once sync.Once }

// Call calls f. A panic goes no further; the first panic is logged, with the kind that f is for.
func (g *Guard) Call(logger *slog.Logger, message, kind string, f func()) {
	defer func() {
		if value := recover(); value != nil {
			g.once.Do(func() { logger.Error(message, "kind", kind, "value", value) })
		}
	}()
	f()
}

// standard refuses events that need no reconcile, such as our own status writes.
var standard = filter.Standard()

// ForcedBy is the key of the annotation whose change forces a reconcile, after its domain.
const ForcedBy = "/reconcile-at"

// isForced reports whether event sets the annotation key to a new value. Removing the annotation forces nothing.
func isForced(event deploy.Event, key string) bool {
	if event.Type != deploy.Modified {
		return false
	}
	now := annotation(event.New, key)
	return now != "" && now != annotation(event.Old, key)
}

// annotation returns a value without a copy of all annotations.
func annotation(obj *unstructured.Unstructured, key string) string {
	annotations, _ := metadataOf(obj)["annotations"].(map[string]any)
	return text(annotations, key)
}

// metadataOf returns the metadata of an object itself, nil if it has none.
func metadataOf(obj *unstructured.Unstructured) map[string]any {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	return metadata
}

func text(content map[string]any, key string) string {
	value, _ := content[key].(string)
	return value
}

// Why returns the triggers of an event of a controlled object. listing: the existing objects are being listed.
func Why(event deploy.Event, listing, forced bool) (why request.Triggers) {
	if forced {
		why = request.Forced
	}
	switch {
	case event.Type == deploy.Deleted:
		return why | request.Deleted
	case metadataOf(event.New)["deletionTimestamp"] != nil:
		return why | request.Deleting
	case event.Type == deploy.Added && listing && isOutdated(event.New):
		return why | request.Listed | request.Changed
	case event.Type == deploy.Added && listing:
		return why | request.Listed
	}
	return why | request.Changed
}

// leasing passes updates that only take or release the lock of a replica on an object.
var leasing = filter.Leasing()

// concernsOthers reports whether an event of an object may bring others to reconcile. It returns false if the object
// left the view, if an update repeats a version, as after a restarted watch, or if it only changes the lock of a
// replica.
func concernsOthers(event deploy.Event) bool {
	repeated := event.Type == deploy.Modified &&
		text(metadataOf(event.Old), "resourceVersion") == text(metadataOf(event.New), "resourceVersion")
	return event.Type != deploy.Left && !repeated && !leasing(event)
}

// isOutdated reports whether an object has changed while no engine ran: the newest observed generation in its status,
// including its conditions, is older than its generation. It returns false without an observed generation.
func isOutdated(obj *unstructured.Unstructured) bool {
	status, _ := obj.Object["status"].(map[string]any)
	newest := observed(status)
	conditions, _ := status["conditions"].([]any)
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		newest = max(newest, observed(condition))
	}
	generation, _ := metadataOf(obj)["generation"].(int64)
	return 0 < newest && newest < generation
}

func observed(content map[string]any) int64 {
	generation, _ := content["observedGeneration"].(int64)
	return generation
}

// The defaults of an engine.
const (
	// FirstRetry is the time before a failed object is tried again.
	FirstRetry = 250 * time.Millisecond
	// LongestRetry bounds the time before a retry, which grows with each failure.
	LongestRetry = 30 * time.Second
	// Timeout bounds one reconcile.
	Timeout = 2 * time.Minute
)

// Delay returns the time before the next retry: first, doubled for each of failures, at most longest. failures counts
// the failures in a row before the latest one.
func Delay(first, longest time.Duration, failures int) time.Duration {
	// longest is shifted down, since shifting first up could overflow.
	if failures < 63 && first <= longest>>failures {
		return first << failures
	}
	return longest
}
