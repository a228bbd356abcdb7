package cluster

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// settling is the pause between a change of a CustomResourceDefinition and the next discovery.
const settling = 50 * time.Millisecond

// WatchKinds implements deploy.KindView. It discovers all kinds at the start, when a CustomResourceDefinition has
// changed and, in growing intervals, some times after that, because discovery follows changes with a delay. Later it
// asks once a minute, for the kinds of aggregated API servers, or every 5 seconds if it can't watch
// CustomResourceDefinitions. A discovery takes two requests, and one more for each version if the API server has no
// aggregated discovery.
func (s *store) WatchKinds(ctx context.Context, handle func(kinds []deploy.ServedKind)) {
	s.definitions.begin.Do(s.definitions.watch)
	var known []deploy.ServedKind
	logged := ""
	for delay := firstTry; ; {
		changed := s.definitions.changes(anyGroup) // before the discovery, so that no change is missed
		kinds, unknown, err := s.requests.served(ctx)
		if ctx.Err() != nil || s.ctx.Err() != nil {
			return
		}
		if err != nil {
			if kinds = together(kinds, known, unknown); err.Error() != logged {
				s.logger.Warn("can't discover all kinds, retrying", "error", err)
			}
			logged = err.Error()
		} else {
			logged = ""
		}
		if len(kinds) > 0 && !reflect.DeepEqual(kinds, known) {
			known = kinds
			handle(kinds)
		}
		if delay = s.definitions.pause(ctx, changed, delay); ctx.Err() != nil || s.ctx.Err() != nil {
			return
		}
	}
}

// pause waits for delay. When changed is closed meanwhile, it waits only until the change has settled. It returns the
// delay of the next pause.
func (d *definitions) pause(ctx context.Context, changed <-chan struct{}, delay time.Duration) (next time.Duration) {
	next = min(2*delay, d.longest())
	timer := time.NewTimer(delay)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return next
		case <-d.store.ctx.Done():
			return next
		case <-changed:
			changed, next = nil, firstTry
			timer.Reset(settling)
		case <-timer.C:
			return next
		}
	}
}

// Kinds implements deploy.KindView, by two requests.
func (s *store) Kinds(ctx context.Context) ([]deploy.ServedKind, error) {
	kinds, _, err := s.requests.served(ctx)
	return kinds, err
}

// served returns the kinds that the API server serves, sorted. After an error, the kinds of the versions for which
// unknown returns true are missing.
func (r *requests) served(ctx context.Context) (kinds []deploy.ServedKind, unknown func(schema.GroupVersion) bool, err error) {
	unknown, err = r.eachKind(ctx, func(served deploy.ServedKind) { kinds = append(kinds, served) })
	sortKinds(kinds)
	prefer(kinds)
	return kinds, unknown, err
}

// together returns the kinds of now, and from before those whose versions couldn't be discovered now. If a version of a
// kind couldn't be discovered, the known versions of the kind keep their order, and new versions come last.
func together(now, before []deploy.ServedKind, unknown func(schema.GroupVersion) bool) []deploy.ServedKind {
	all, places, incomplete := slices.Clone(now), map[schema.GroupVersionKind]int{}, map[schema.GroupKind]bool{}
	for place, served := range before {
		places[served.Kind] = place - len(before) // before the new versions, whose place is 0
		isServed := slices.ContainsFunc(now, func(other deploy.ServedKind) bool { return other.Kind == served.Kind })
		if !isServed && unknown(served.Kind.GroupVersion()) {
			all = append(all, served)
			incomplete[served.Kind.GroupKind()] = true
		}
	}
	slices.SortStableFunc(all, func(a, b deploy.ServedKind) int {
		if order := byGroupAndKind(a.Kind, b.Kind); order != 0 || !incomplete[a.Kind.GroupKind()] {
			return order
		}
		return cmp.Compare(places[a.Kind], places[b.Kind])
	})
	prefer(all)
	return all
}

// prefer marks the first version of each kind.
func prefer(sorted []deploy.ServedKind) {
	for i := range sorted {
		sorted[i].Preferred = i == 0 || sorted[i-1].Kind.GroupKind() != sorted[i].Kind.GroupKind()
	}
}

// sortKinds sorts kinds by group and kind. The order of versions stays.
func sortKinds(kinds []deploy.ServedKind) {
	slices.SortStableFunc(kinds, func(a, b deploy.ServedKind) int { return byGroupAndKind(a.Kind, b.Kind) })
}
