package dryrun

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/internal/mailbox"
	"github.com/operkit/operkit/deploy/internal/selection"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// WatchOptions are the options of a Watch.
type WatchOptions struct {
	// Namespace limits the watch to one namespace. Empty means all namespaces.
	Namespace string
	// Labels and Fields select objects. nil selects all. When an object starts to match, the event is Added. When it
	// stops matching, the event is Deleted.
	Labels labels.Selector
	Fields fields.Selector
	// ResourceVersion is the resourceVersion after which the events begin. If it is empty, the existing objects come
	// first, as Added.
	ResourceVersion string
}

// ExpiredError reports that the events since a resourceVersion aren't kept any more. The caller has to list again.
type ExpiredError struct {
	// ResourceVersion is the requested version. Err is the error that an API server would return.
	ResourceVersion string
	Err             error
}

// Error names the version.
func (e *ExpiredError) Error() string {
	return fmt.Sprintf("events since resourceVersion %s: not kept any more, list again: %v", e.ResourceVersion, e.Err)
}

// Unwrap returns Err, which has the code 410 (Gone).
func (e *ExpiredError) Unwrap() error { return e.Err }

// Watch is like View.Subscribe, but has selectors and can continue an earlier watch. If the events since
// options.ResourceVersion aren't kept any more, it returns an *ExpiredError.
func (c *Cluster) Watch(ctx context.Context, kind schema.GroupVersionKind, options WatchOptions, handle func(deploy.Event)) (deploy.Subscription, error) {
	return c.watch(ctx, kind, options, deploy.Deleted, handle)
}

// watch is like Watch. leaving is the type of the event for an object that stops matching.
func (c *Cluster) watch(
	ctx context.Context, kind schema.GroupVersionKind, options WatchOptions, leaving deploy.EventType, handle func(deploy.Event),
) (deploy.Subscription, error) {
	call := Call{Verb: VerbWatch, Ref: deploy.Ref{Kind: kind, Namespace: options.Namespace}}
	return request(ctx, c, call, nil, func() (deploy.Subscription, error) {
		d, err := c.declared(kind)
		if err != nil {
			return nil, err
		}
		if err := d.selects(call.Ref, options.Fields); err != nil {
			return nil, err
		}
		s := newSubscription(ctx, d, options, leaving, handle)
		if err := c.begin(s, options.ResourceVersion); err != nil {
			return nil, err
		}
		return s, nil
	})
}

// begin sends a subscription its past events, and then starts the subscription.
func (c *Cluster) begin(s *subscription, since string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	past, err := c.past(s, since)
	if err != nil {
		return err
	}
	for _, event := range past {
		s.push(event)
	}
	if since == "" {
		s.initial = s.waiting.Len()
	}
	c.subscriptions[s] = struct{}{}
	c.running.Go(func() {
		s.run()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.subscriptions, s)
	})
	return nil
}

// past returns the events since a resourceVersion. If since is empty, it returns an Added event for each existing
// object. The lock is held.
func (c *Cluster) past(s *subscription, since string) ([]deploy.Event, error) {
	if !c.shows(s.declared) {
		return nil, nil
	}
	if since == "" {
		var events []deploy.Event
		existing := c.storage.ofKind(s.declared.kind.GroupKind(), "")
		slices.SortFunc(existing, byVersion)
		for _, obj := range existing {
			events = append(events, deploy.Event{Type: deploy.Added, New: obj})
		}
		return events, nil
	}
	version, err := strconv.ParseUint(since, 10, 64)
	if err != nil {
		return nil, &deploy.InvalidError{Ref: deploy.Ref{Kind: s.declared.kind}, Err: fmt.Errorf("resourceVersion %q: not a version of this cluster", since)}
	}
	if version > c.storage.version {
		return nil, &deploy.UnavailableError{Ref: deploy.Ref{Kind: s.declared.kind}, Err: apierrors.NewTimeoutError(
			fmt.Sprintf("Too large resource version: %d, current: %d", version, c.storage.version), 1)}
	}
	if version < c.history.floor {
		return nil, &ExpiredError{ResourceVersion: since, Err: apierrors.NewResourceExpired(
			fmt.Sprintf("too old resource version: %d (%d)", version, c.history.floor))}
	}
	return c.history.since(version, s.declared.kind.GroupKind()), nil
}

// history keeps the latest events of all kinds.
type history struct {
	size   int
	events []happened
	// floor is the lowest version at which a watch can begin. Events up to floor may have been dropped.
	floor uint64
}

type happened struct {
	version uint64
	kind    schema.GroupKind
	event   deploy.Event
}

func (h *history) add(kind schema.GroupKind, event deploy.Event) {
	h.events = append(h.events, happened{versionOf(event.New), kind, event})
	if len(h.events) > 2*h.size {
		// Drop half of the events at a time, so that the cost of an event is constant.
		gone := len(h.events) - h.size
		h.floor = h.events[gone-1].version
		h.events = slices.Clone(h.events[gone:])
	}
	if len(h.events) > h.size {
		h.floor = max(h.floor, h.events[len(h.events)-h.size-1].version)
	}
}

func (h *history) since(version uint64, kind schema.GroupKind) []deploy.Event {
	var events []deploy.Event
	for _, past := range h.events {
		if past.version > version && past.kind == kind {
			events = append(events, past.event)
		}
	}
	return events
}

// seenBy returns the event that the subscription gets for event, according to its selectors. ok is false if it gets
// none.
func (s *subscription) seenBy(event deploy.Event) (seen deploy.Event, ok bool) {
	was := event.Old != nil && s.selects(event.Old)
	is := event.Type != deploy.Deleted && s.selects(event.New)
	switch {
	case was && is, was && event.Type == deploy.Deleted:
		return event, true
	case is:
		return deploy.Event{Type: deploy.Added, New: event.New}, true
	case was:
		last := event.Old.DeepCopy()
		last.SetResourceVersion(event.New.GetResourceVersion())
		return deploy.Event{Type: s.leaving, Old: last, New: last}, true
	}
	return deploy.Event{}, false
}

func (s *subscription) selects(obj *unstructured.Unstructured) bool {
	return (s.options.Namespace == "" || s.options.Namespace == obj.GetNamespace()) &&
		selection.Selection{Labels: s.options.Labels, Fields: s.options.Fields}.Matches(obj)
}

// subscription passes the events of a kind to its handler, one after the other.
type subscription struct {
	ctx      context.Context
	declared *declaration
	// options select the objects of the subscription.
	options WatchOptions
	leaving deploy.EventType
	handle  func(deploy.Event)
	// initial is the number of events for objects that existed at the beginning.
	initial int
	synced  chan struct{}
	waiting *mailbox.Mailbox[deploy.Event]
}

func newSubscription(
	ctx context.Context, d *declaration, options WatchOptions, leaving deploy.EventType, handle func(deploy.Event),
) *subscription {
	return &subscription{ctx: ctx, declared: d, options: options, leaving: leaving, handle: handle, synced: make(chan struct{}), waiting: mailbox.New[deploy.Event]()}
}

// Synced implements deploy.Subscription.
func (s *subscription) Synced(ctx context.Context) error {
	select {
	case <-s.synced:
		return nil
	default:
	}
	select {
	case <-s.synced:
		return nil
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *subscription) push(event deploy.Event) {
	if event, ok := s.seenBy(event); ok {
		s.waiting.Put(event)
	}
}

// run passes events to the handler, one after the other, until the context ends.
func (s *subscription) run() {
	if s.initial == 0 {
		close(s.synced)
	}
	handled := 0
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.waiting.Filled():
		}
		for _, event := range s.waiting.Take() {
			if s.ctx.Err() != nil {
				return
			}
			if seen, err := s.inVersion(event); err == nil {
				s.handle(seen)
			}
			if handled++; handled == s.initial {
				close(s.synced)
			}
		}
	}
}

// inVersion returns the event with its objects in the version that the subscription is for. After an object that can't
// be converted, which the subscription hasn't seen, the next one is new.
func (s *subscription) inVersion(event deploy.Event) (own deploy.Event, err error) {
	own.Type = event.Type
	if own.New, err = shared(event.New, s.declared); err != nil || event.Old == nil {
		return own, err
	}
	if own.Old = own.New; event.Old != event.New {
		if own.Old, err = shared(event.Old, s.declared); err != nil {
			own = deploy.Event{Type: deploy.Added, New: own.New}
		}
	}
	return own, nil
}
