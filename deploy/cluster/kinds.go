package cluster

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// settling is the pause between a change of a CustomResourceDefinition and the next discovery.
const settling = 50 * time.Millisecond

// WatchKinds implements deploy.KindView. It discovers all kinds with two requests: at the start, when a
// CustomResourceDefinition has changed and, in growing intervals, some times after that, because discovery follows
// changes with a delay. Later it asks once a minute, for the kinds of aggregated API servers.
func (s *store) WatchKinds(ctx context.Context, handle func(kinds []deploy.ServedKind)) {
	s.definitions.begin.Do(s.definitions.watch)
	var known []deploy.ServedKind
	logged := ""
	for delay := firstTry; ; {
		changed := s.definitions.changes(anyGroup) // before the discovery, so that no change is missed
		kinds, err := s.requests.served(ctx)
		if ctx.Err() != nil || s.ctx.Err() != nil {
			return
		}
		if err != nil {
			if kinds = together(kinds, known); err.Error() != logged {
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

// served returns the kinds that the API server serves, sorted. After an error, some may be missing.
func (r *requests) served(ctx context.Context) (kinds []deploy.ServedKind, err error) {
	preferred := map[schema.GroupKind]bool{}
	err = r.eachKind(ctx, func(served deploy.ServedKind) {
		served.Preferred = !preferred[served.Kind.GroupKind()]
		preferred[served.Kind.GroupKind()] = true
		kinds = append(kinds, served)
	})
	sortKinds(kinds)
	return kinds, err
}

// together returns the kinds of now, and those of before that now lacks.
func together(now, before []deploy.ServedKind) []deploy.ServedKind {
	all := slices.Clone(now)
	for _, served := range before {
		if !slices.ContainsFunc(now, func(other deploy.ServedKind) bool { return other.Kind == served.Kind }) {
			all = append(all, served)
		}
	}
	sortKinds(all)
	return all
}

// sortKinds sorts kinds by group and kind. The order of versions stays.
func sortKinds(kinds []deploy.ServedKind) {
	slices.SortStableFunc(kinds, func(a, b deploy.ServedKind) int { return byGroupAndKind(a.Kind, b.Kind) })
}
