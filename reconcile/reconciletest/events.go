package reconciletest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// events are what the operator's process knows of events: it is new after a restart. Events are queued when they
// happen, and handled by look, by the rules of package watch. It is the Watcher of the reconcilers.
type events struct {
	*Harness
	// ctx ends the subscriptions and the external sources, and stop ends ctx.
	ctx       context.Context
	stop      context.CancelFunc
	external  sync.WaitGroup
	owners    *trigger.Owners
	followers trigger.Followers
	echoes    trigger.Echoes
	// unserved are the declared kinds that a real cluster didn't serve when they were last tried, and held are the
	// controlled kinds that can't be reconciled yet.
	unserved []trigger.Subject
	held     []*driven

	// turn is held while a kind is subscribed to.
	turn sync.Mutex
	mu   sync.Mutex
	// subscriptions are what is watched, and waiting the events that came.
	subscriptions []*subscription
	waiting       []happened
	// seen are the objects of a cluster in memory when events were last captured, by watched kind.
	seen map[schema.GroupVersionKind]map[deploy.Ref]*unstructured.Unstructured
	// brought are the keys from external sources.
	brought []brought
}

// subscription handles the events of one subject.
type subscription struct {
	trigger.Subject
	handle func(h happened)
}

// happened is an event of a subscription.
type happened struct {
	deploy.Event
	to *subscription
	at time.Time
	// listing: the existing objects were being listed.
	listing bool
}

// brought is a key that an external source of a kind brought.
type brought struct {
	to  *driven
	key deploy.Ref
	at  time.Time
}

func newEvents(h *Harness) *events {
	ctx, stop := context.WithCancel(h.t.Context())
	return &events{
		Harness: h, ctx: ctx, stop: stop, owners: trigger.NewOwners(),
		seen: map[schema.GroupVersionKind]map[deploy.Ref]*unstructured.Unstructured{},
	}
}

// start notes what there is to watch.
func (e *events) start() {
	e.held = slices.SortedFunc(maps.Values(e.driven), func(a, b *driven) int { return strings.Compare(a.kind.String(), b.kind.String()) })
	for _, d := range e.held {
		sources := d.rules.Sources()
		for _, owned := range sources.Owned {
			e.unserved = append(e.unserved, trigger.Subject{Owner: d.kind, Child: owned.Kind})
		}
		for i, mapped := range sources.Mapped {
			e.unserved = append(e.unserved, trigger.Subject{Owner: d.kind, Child: mapped.Kind, Mapped: i + 1})
		}
	}
}

// watch watches the declared kinds, and then the controlled kinds, that can be watched by now and aren't yet. An engine
// has the same order: so the children that exist at the start bring no owner.
func (e *events) watch() error {
	if err := e.watchDeclared(); err != nil {
		return err
	}
	pending := e.held
	e.held = nil
	for _, d := range pending {
		if err := e.prepare(d); err != nil {
			e.held = append(e.held, d)
			e.t.Logf("%s can't be reconciled yet: %v", d.kind.Kind, err)
		}
	}
	for _, d := range pending {
		if d.open = !slices.Contains(e.held, d); !d.open {
			continue
		}
		if err := e.subscribe(e.ctx, trigger.Subject{Owner: d.kind}, e.ofResource(d)); err != nil {
			return fmt.Errorf("watch %s: %w", d.kind.Kind, err)
		}
	}
	return nil
}

// prepare completes the indexes of a kind, and starts its external sources that have to be ready before it.
func (e *events) prepare(d *driven) error {
	for _, place := range d.rules.Foreign() {
		indexed := d.rules.Sources().Indexed[place].Kind
		if _, err := e.cluster.Port().Scope(e.ctx, indexed); err != nil {
			return fmt.Errorf("its index isn't complete: %w", err)
		}
		err := e.subscribe(e.ctx, trigger.Subject{Owner: d.kind, Child: indexed, Indexed: place + 1}, func(h happened) { d.rules.Index(place, h.Event) })
		if err != nil {
			return fmt.Errorf("its index isn't complete: %w", err)
		}
	}
	e.handleAll()
	return d.startExternal(e.ctx, target{e, d})
}

// watchDeclared watches the declared kinds that aren't watched yet, if the cluster serves them.
func (e *events) watchDeclared() error {
	pending := e.unserved
	e.unserved = nil
	for _, s := range pending {
		handle := e.ofChild(s.Owner, s.Child)
		if s.Mapped > 0 {
			handle = e.ofMapped(e.driven[s.Owner], s.Mapped-1)
		}
		err := e.subscribe(e.ctx, s, handle)
		if failure.Is[*deploy.KindUnknownError](err) {
			e.unserved = append(e.unserved, s)
		} else if err != nil {
			return fmt.Errorf("watch %s: %w", s.Child.Kind, err)
		}
	}
	return nil
}

// end ends the subscriptions and external sources.
func (e *events) end() {
	e.stop()
	e.external.Wait()
}

// look handles the events since the last look, and the keys that external sources brought. It reports whether there
// were any.
func (e *events) look() (changed bool, err error) {
	if err := e.captureAll(); err != nil {
		return false, err
	}
	changed = e.handleAll()
	e.mu.Lock()
	var keys, early []brought
	for _, b := range e.brought {
		if b.to.open {
			keys = append(keys, b)
		} else {
			early = append(early, b)
		}
	}
	e.brought = early
	e.mu.Unlock()
	for _, b := range keys {
		e.bring(b.key, request.External, b.at)
	}
	return changed || len(keys) > 0, nil
}

// handleAll handles the queued events.
func (e *events) handleAll() (any bool) {
	e.mu.Lock()
	waiting := e.waiting
	e.waiting = nil
	e.mu.Unlock()
	for _, h := range waiting {
		if e.concerns(h.Event) {
			h.to.handle(h)
			any = true
		}
	}
	return any
}
